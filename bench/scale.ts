import { type ChildProcess, fork } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { printRows, type Row } from './report/rows.ts'
import type { ClusterSize } from './scale/fill-cluster.ts'
import { measureOperator } from './scale/measure-operator.ts'
import { measurePeer } from './scale/measure-peer.ts'
import { serveCluster } from './scale/serve-cluster.ts'
import { answerOf, type ServedCluster } from './scale/served-cluster.ts'

const serveFlag = '--serve'
/** A part of everything, for whoever works on it: COFFERDAM_SCALE=0.1. */
const part = Number(process.env['COFFERDAM_SCALE'] ?? 1)
const size: ClusterSize = {
  nodes: 5_000 * part,
  pods: 150_000 * part,
  osds: 10_000 * part,
  volumes: 10_000 * part,
  budgets: 10_000 * part,
}

if (process.argv.includes(serveFlag)) await serveCluster(size)
else await measure()

async function measure(): Promise<void> {
  const own = fileURLToPath(import.meta.url)
  console.log(
    `${size.nodes} nodes, ${size.pods} pods, ${size.osds} OSDs, ${size.volumes} volumes and ${size.budgets} budgets, over HTTP; the server fills for some minutes ...`,
  )
  const server = fork(own, [serveFlag], { execArgv: ['--max-old-space-size=12000'] })
  const folder = await mkdtemp(join(tmpdir(), 'cofferdam-scale-'))
  try {
    printRows(await measureBoth(server, folder))
  } finally {
    server.kill()
    await rm(folder, { recursive: true, force: true })
  }
}

/** One after the other, so that neither waits for the other: first who changes nothing. */
async function measureBoth(server: ChildProcess, folder: string): Promise<Row[]> {
  const { url, token } = await answerOf<{ url: string; token: string }>(server)
  const cluster: ServedCluster = {
    size,
    url,
    token,
    folder,
    ask(question) {
      server.send(question)
      return answerOf(server)
    },
  }
  return [...(await measurePeer(cluster)), ...(await measureOperator(cluster))]
}
