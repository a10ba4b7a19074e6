import { createServer } from 'node:net'

/** Below what the system gives to connections of its own, which could take a port before its daemon binds it; above what services are known by. */
const lowest = 12_000
const highest = 31_000
/** Suites run side by side in processes that do not know of each other: each takes its ports from a lane of its own. */
const lanes = 4
const laneSize = Math.floor((highest - lowest) / lanes)

/** What was handed out is bound only later, so another caller could be given it too. */
const handedOut = new Set<number>()

/** Ports that no program listens on just now, on any address, and that were not handed out before. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = []
  while (ports.length < count) ports.push(await freePortRun(1))
  return ports
}

/** The first of so many such ports in a row. */
export async function freePortRun(count: number): Promise<number> {
  for (;;) {
    const first = firstOfLane() + Math.floor(Math.random() * (laneSize - count + 1))
    const ports = Array.from({ length: count }, (_, index) => first + index)
    if (ports.some((port) => handedOut.has(port))) continue
    for (const port of ports) handedOut.add(port)
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return first
  }
}

/** Vitest numbers the processes that run at the same time, from 1. */
function firstOfLane(): number {
  const number = Number(process.env['VITEST_POOL_ID'] ?? '1')
  return lowest + ((number - 1) % lanes) * laneSize
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, () => server.close(() => resolve(true)))
  })
}
