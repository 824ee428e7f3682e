cd /work/wt/chain 2>/dev/null || true
mkdir -p /run/x; : > /run/x/e.conf
which perf
perf record -q -e cpu-clock -F 2000 -g -o /tmp/p.data -- timeout -s TERM 5 build/wakegovd --config /run/x/e.conf --run-dir /run/x
perf report -i /tmp/p.data --comm wakegovd --no-children -g none --stdio 2>/dev/null | grep -v "^#" | head -45
echo ======
perf report -i /tmp/p.data --comm wakegovd --no-children -g none --sort dso --stdio 2>/dev/null | grep -v "^#" | head
echo =====
perf report -i /tmp/p.data --comm wakegovd --no-children -G --stdio 2>/dev/null | grep -v "^#" | head -120
