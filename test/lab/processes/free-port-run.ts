import { createServer } from 'node:net'

/** Below what the system gives to connections of its own, and above what services are known by. */
const lowest = 12_000
const highest = 31_000

/** What was handed out is bound only later, so another caller could be given it too. */
const handedOut = new Set<number>()

/** The first of so many ports in a row that nobody listens on just now, on any address. Assumes: every caller wants the same number. */
export async function freePortRun(count: number): Promise<number> {
  for (;;) {
    const first = lowest + Math.floor((Math.random() * (highest - lowest)) / count) * count
    if (handedOut.has(first)) continue
    handedOut.add(first)
    const ports = Array.from({ length: count }, (_, index) => first + index)
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return first
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, () => server.close(() => resolve(true)))
  })
}
