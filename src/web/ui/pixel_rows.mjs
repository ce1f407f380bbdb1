// SPDX-License-Identifier: BSD-2-Clause
// Rows of a picture, each of which looks the same over its whole height: boxes of a flame graph's level, a thread's
// time line.  A row is one line of pixels, stretched when it is shown.  So a frame costs as many pixels as the rows
// are wide, however many boxes stand in them.
//
//     const rows = pixelRows();
//     const line = rows.begin(width, count);   // Uint32Array: row R's pixels begin at R * width; 0 is transparent
//     line.fill(pixelOf("#ff0000"), from, to);
//     rows.show(ctx, top, height);             // in pixels of the canvas
export function pixelRows() {
  const canvas = document.createElement("canvas");
  const ctx = canvas.getContext("2d", { willReadFrequently: true });
  let image = null, pixels = null, count = 0;
  return {
    begin(width, n) {
      count = n;
      if (!image || image.width !== width || image.height < n) {
        canvas.width = Math.max(1, width);
        canvas.height = Math.max(1, n);
        image = ctx.createImageData(canvas.width, canvas.height);
        pixels = new Uint32Array(image.data.buffer);
      } else {
        pixels.fill(0);
      }
      return pixels;
    },
    show(to, top, height) {
      if (!count)
        return;
      ctx.putImageData(image, 0, 0);
      to.imageSmoothingEnabled = false;
      to.drawImage(canvas, 0, 0, image.width, count, 0, top, image.width, count * height);
    },
  };
}

// "#rrggbb" as a pixel of an ImageData, which is little endian in every browser.
export function pixelOf(colour) {
  const n = parseInt(colour.slice(1), 16);
  return (0xff000000 | (n & 255) << 16 | (n & 0xff00) | n >> 16) >>> 0;
}

// Fits CANVAS to WIDTH x HEIGHT CSS pixels and returns its context, cleared, in pixels of the screen.
export function beginCanvas(canvas, width, height) {
  const dense = window.devicePixelRatio || 1;
  const [w, h] = [Math.max(1, Math.round(width * dense)), Math.max(1, Math.round(height * dense))];
  const ctx = canvas.getContext("2d");
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  } else {
    ctx.clearRect(0, 0, w, h);
  }
  return { ctx, dense, width: w, height: h };
}

const FONT = '"DejaVu Sans Mono", Menlo, Consolas, monospace';

// Labels of boxes: the widest first, for at most BUDGET milliseconds, so that no frame waits for text.  Names are cut by
// counting characters of a font whose characters are equally wide.
//
//     labels.add(x, y, room, number)      from X on, around Y; ROOM pixels wide
//     labels.paint(ctx, dense, ink, nameOf, budget)     nameOf(number, room in characters) is a text, which is cut
//
// paint goes on where it ended and returns whether all are painted.
export function labelList() {
  let xs = new Float32Array(256), ys = new Float32Array(256), rooms = new Float32Array(256), numbers = new Int32Array(256);
  let n = 0, order = null, at = 0;
  const grow = (old) => {
    const more = new old.constructor(old.length * 2);
    more.set(old);
    return more;
  };
  return {
    clear() {
      n = at = 0;
      order = null;
    },
    add(x, y, room, number) {
      if (n === xs.length)
        [xs, ys, rooms, numbers] = [xs, ys, rooms, numbers].map(grow);
      xs[n] = x;
      ys[n] = y;
      rooms[n] = room;
      numbers[n++] = number;
    },
    paint(ctx, dense, ink, nameOf, budget) {
      const ends = performance.now() + budget;
      if (!order)
        order = Uint32Array.from({ length: n }, (_, i) => i).sort((a, b) => rooms[b] - rooms[a]);
      ctx.font = `${12 * dense}px ${FONT}`;
      ctx.textBaseline = "middle";
      ctx.fillStyle = ink;
      const charWidth = ctx.measureText("m").width;
      for (; at < n; at++) {
        if (at % 16 === 15 && performance.now() > ends)
          return false;
        const k = order[at], chars = Math.floor(rooms[k] / charWidth);
        if (chars >= 2)
          ctx.fillText(cut(nameOf(numbers[k], chars), chars), xs[k], ys[k]);
      }
      return true;
    },
  };
}

function cut(name, room) {
  return name.length <= room ? name : name.slice(0, Math.max(room - 1, 1)) + "\u2026";
}
