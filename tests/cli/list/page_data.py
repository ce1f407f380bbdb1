# page_data.py FILE: what the page of `dwell list` carries, and whether it fetches anything.
import base64, hashlib, json, re, sys, zlib

page = open(sys.argv[1], encoding="utf-8").read()
policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
style, script = re.search("<style>(.*?)</style>", page, re.S)[1], re.search("<script>(.*?)</script>", page, re.S)[1]
for what, text in ("style", style), ("script", script):
    assert f"{what}-src 'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" in policy, what
print(re.sub(r"sha256-[^']*", "sha256-...", policy))
print("fetches:", re.findall(r'(?:src|href)="?[^ >]*', page))
data = json.loads(zlib.decompress(base64.b64decode(re.search(r'id="data">([^<]*)<', page).group(1))))
print(data["procedure"], "into", data["into"], "kept", data["kept"])
print([(c["title"], c["total"], c["all"]) for c in data["columns"]])
print("candidates", [(c["procedure"], c["samples"]) for c in data["candidates"]])
for line in data["lines"]:
    print(data["files"][line[0]].split("/")[-1], *line[1:])
for insn in data["insns"]:
    print(*insn)
print("arrows", data["arrows"])
