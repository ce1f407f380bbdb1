// What browsers have and the declarations of Debian 12's tsc (4.8) do not.
// Source: https://compression.spec.whatwg.org/#decompression-stream
declare class DecompressionStream {
  constructor(format: "deflate" | "deflate-raw" | "gzip");
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
}
