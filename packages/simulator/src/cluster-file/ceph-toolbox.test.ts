import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deployments, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { createPodExec } from '@cofferdam/kubernetes/client/exec-in-pod.ts'
import { loadKubeconfig } from '@cofferdam/kubernetes/client/load-kubeconfig.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { createCommands } from '@cofferdam/product/cli/commands.ts'
import { type Demo, startDemo } from '@cofferdam/product/cli/demo/start-demo.ts'
import { runCommand } from '@cofferdam/product/cli/testing/run-command.ts'
import { createLog } from '@cofferdam/product/operator/log.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { VirtualClock } from '../harness/virtual-clock.ts'
import { parseClusterFile } from './cluster-file.ts'

const cluster = `
zones: [{ name: x }, { name: y }, { name: z }]
nodes: [{ name: "node-{zone}" }]
ceph:
  osds: { perNode: 2 }
  pools: [{ name: replicapool, failureDomain: host, replicated: { size: 3 } }]
`

let home: string
let demo: Demo
const clock = new VirtualClock()
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'cofferdam-toolbox-'))
  demo = await startDemo({
    description: parseClusterFile(cluster, 'small.yaml'),
    clock,
    random: seededRandom(1),
    kubePort: 0,
    dashboardPort: undefined,
    pageDirectory: home,
    kubeconfigPath: join(home, 'kubeconfig'),
    log: createLog('silent'),
  })
  await clock.advance(31_000)
})
afterAll(async () => {
  const stopped = demo.stop()
  await clock.advance(1_000)
  await stopped
  rmSync(home, { recursive: true, force: true })
})

async function plan(...argv: string[]) {
  const command = createCommands({ pageDirectory: home, defaultClusterFile: '' }).find(({ name }) => name === 'plan')
  if (command === undefined) throw new Error('there is no command plan')
  return runCommand(command, 'plan', 'osd-update', '--kubeconfig', demo.kubeconfigPath, '--cpu-seconds', '0', ...argv)
}

async function execIn(labelSelector: string, argv: readonly string[]) {
  const [pod] = (await demo.api.list(pods, { namespace: 'rook-ceph', labelSelector })).items
  const connection = await loadKubeconfig({ env: {}, path: demo.kubeconfigPath })
  const exec = createPodExec({ connection, clock: realClock })
  try {
    const place = { namespace: 'rook-ceph', pod: pod?.metadata.name ?? '' }
    return await exec.exec(place, argv, { signal: new AbortController().signal, maxBytes: 1_000_000 })
  } finally {
    await exec.close()
  }
}

describe('the toolbox of the demo', () => {
  it('lets plan osd-update read the living Ceph, as it does in any cluster of Rook', async () => {
    const { code, out, err } = await plan('--max-parallel', '2')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^6 OSDs in 3 rounds\n/)
  })

  it('answers the ceph program, and has no other', async () => {
    const stat = await execIn('app=rook-ceph-tools', ['ceph', 'osd', 'stat', '-f', 'json'])
    expect({ ...stat, out: JSON.parse(stat.out) }).toMatchObject({
      code: 0,
      err: '',
      out: { num_osds: 6, num_up_osds: 6 },
    })
    expect(await execIn('app=rook-ceph-tools', ['bash'])).toMatchObject({ code: 127 })
  })

  it('is the only pod in which a program runs', async () => {
    await expect(execIn('app=rook-ceph-mon', ['ceph', 'status'])).rejects.toThrow('it opened no stream')
  })

  it('once gone leaves plan with a word on what to deploy', async () => {
    await demo.api.delete(deployments, { namespace: 'rook-ceph', name: 'rook-ceph-tools' })
    await clock.advance(20_000)
    const { code, err } = await plan()
    expect(code).toBe(1)
    expect(err).toContain('no toolbox pod is running')
  })
})
