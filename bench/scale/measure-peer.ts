import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { type Row, told } from '../report/rows.ts'
import { cpuSecondsOf, memoryOf, sizeText } from './processes.ts'
import type { Traffic } from './serve-cluster.ts'
import { type ServedCluster, writeKubeconfig } from './served-cluster.ts'

const folder = 'bench/scale/peer'
const fillLimitMs = 900_000

/** An operator of Go that decides nothing: the caches of controller-runtime, for the kinds that Cofferdam reads. */
export async function measurePeer(cluster: ServedCluster): Promise<Row[]> {
  const program = join(cluster.folder, 'peer')
  const built = spawnSync('go', ['build', '-mod=readonly', '-buildvcs=false', '-trimpath', '-o', program, '.'], {
    cwd: folder,
    env: { ...process.env, GOTOOLCHAIN: 'local', GOWORK: 'off' },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (built.status !== 0)
    return [told('the caches of controller-runtime', 'not measured: they could not be built with Go')]
  const version = /controller-runtime (v\S+)/.exec(readFileSync(join(folder, 'go.mod'), 'utf8'))?.[1] ?? ''
  const name = `controller-runtime ${version}`
  const kubeconfig = writeKubeconfig(cluster, {})
  const kinds = [
    { what: `${name}, its caches of the same kinds`, flags: [] },
    { what: 'the same without managedFields', flags: ['--without-managed-fields'] },
  ]
  const rows: Row[] = []
  for (const { what, flags } of kinds) {
    const measured = await measureCaches(cluster, program, [kubeconfig, ...flags])
    console.log(`${what}: ${measured}`)
    rows.push(told(what, measured))
  }
  return rows
}

async function measureCaches({ ask }: ServedCluster, program: string, args: readonly string[]): Promise<string> {
  const before = await ask<Traffic>({ ask: 'traffic' })
  const began = performance.now()
  const peer = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: peer.stdout })
  const answer = async () => JSON.parse(String((await once(lines, 'line'))[0])) as { readonly heapAlive: number }
  try {
    const isFilled = await Promise.race([
      answer().then(() => true),
      ended(peer),
      setTimeout(fillLimitMs, false, { ref: false }),
    ])
    if (!isFilled) {
      const minutes = fillLimitMs / 60_000
      return `not filled within ${minutes} minutes: ${sizeText(memoryOf(peer).resident)} resident, ${cpuSecondsOf(peer).toFixed(0)} s of CPU`
    }
    const seconds = (performance.now() - began) / 1_000
    const cpu = cpuSecondsOf(peer)
    await setTimeout(30_000)
    const { resident, most } = memoryOf(peer)
    const { bytes } = await ask<Traffic>({ ask: 'traffic' })
    const asked = answer()
    peer.stdin.write('\n')
    const { heapAlive } = await asked
    return `${sizeText(resident)} resident, ${sizeText(most)} at most, ${sizeText(heapAlive)} alive; filled in ${seconds.toFixed(1)} s, ${cpu.toFixed(1)} s of CPU, ${sizeText(bytes - before.bytes)}`
  } finally {
    peer.kill()
  }
}

async function ended(peer: ReturnType<typeof spawn>): Promise<never> {
  const [code] = await once(peer, 'exit')
  throw new Error(`the peer ended with ${code}`)
}
