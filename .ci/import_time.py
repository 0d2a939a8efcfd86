"""Check the promise of a light start: no heavy library with `import sectioncls`, --help under half a second."""

import subprocess
import sys
import time

HEAVY = ("torch", "sklearn", "spacy", "lxml", "pyarrow", "pandas", "transformers", "matplotlib")

code = f"import sectioncls, sys; print(','.join(m for m in {HEAVY!r} if m in sys.modules))"
loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()
if loaded:
    sys.exit(f"import sectioncls loads {loaded}")

times = []
for _ in range(5):
    began = time.perf_counter()
    subprocess.run([sys.argv[1], "--help"], check=True, capture_output=True)
    times.append(time.perf_counter() - began)
best = min(times)
print(f"sectioncls --help: {best:.2f} s (best of {len(times)})")
if best > 0.5:
    sys.exit("sectioncls --help takes more than 0.5 s")
