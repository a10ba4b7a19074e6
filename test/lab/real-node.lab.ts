import { readFileSync } from 'node:fs'
import { operatorAccount } from '@cofferdam/product/deploy/operator-manifests.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { everyMark } from './control-plane/every-mark.ts'
import { runHelm } from './control-plane/run-helm.ts'
import { runKubectl } from './control-plane/run-kubectl.ts'
import { findHelm } from './parts/find-helm.ts'
import type { ProgramEnd } from './processes/run-program.ts'
import { followPods, type PodHistory } from './real-node/pod-history.ts'
import { openRealLab, type RealLab } from './real-node/real-lab.ts'
import { shopObjects } from './real-node/workloads.ts'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }
const { namespace } = operatorAccount
const drainWords = ['--ignore-daemonsets', '--delete-emptydir-data'] as const

let lab: RealLab
let helm: string
let before: Record<string, unknown>
let shop: PodHistory
beforeAll(async () => {
  const owner = Number(process.env['COFFERDAM_LAB_OWNER'])
  if (!(owner > 0)) throw new Error('real nodes need a machine of their own: npm run test:lab -- real-node')
  helm = (await findHelm((line) => console.error(line))).helm
  lab = await openRealLab('real-node', { layout: '.cofferdam/real-node/image', owner })
  before = await everyMark(lab.kubectl)
})
afterAll(async () => {
  await shop?.stop()
  await lab?.close()
})

const done = ({ code, stdout, stderr }: ProgramEnd): string => {
  if (code !== 0) throw new Error(`exit code ${code}: ${stderr || stdout}`)
  return stdout
}
const typedHelm = async (...words: readonly string[]) =>
  done(await runHelm({ program: helm, folder: lab.folder, plane: lab.plane }, words))
const typed = async (...words: readonly string[]) => done(await lab.cofferdam(...words))

/** Names of nodes, one for each pod of the operator that is ready. */
async function operatorNodes(): Promise<readonly string[]> {
  const format = 'jsonpath={range .items[?(@.status.containerStatuses[0].ready==true)]}{.spec.nodeName}{"\\n"}{end}'
  const { stdout } = await lab.kubectl('get', 'pods', '-n', namespace, '-o', format)
  return stdout.trim().split('\n').sort()
}

const statusOf = (pid: number) => readFileSync(`/proc/${pid}/status`, 'utf8')

it('helm installs the chart, and kubelets run the image that was built: as its own user, without any right on the node', async () => {
  await typedHelm('install', 'cofferdam', 'deploy/helm/cofferdam', '--namespace', namespace, '--create-namespace')
  await lab.until(
    'an operator is ready on each node',
    async () => (await operatorNodes()).join() === 'node-a,node-b',
    90,
  )
  const inside = ['/usr/bin/node', '/usr/lib/cofferdam/cofferdam.js', '--version']
  const called = await lab.kubectl('exec', '-n', namespace, 'deployment/cofferdam-operator', '--', ...inside)
  expect(called.stdout.trim()).toBe(version)
  const operators: number[] = []
  for (const node of lab.nodes)
    for (const pid of await node.tasks())
      if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('cofferdam.js\0operator')) operators.push(pid)
  expect(operators).toHaveLength(2)
  for (const pid of operators) expect(statusOf(pid)).toMatch(/^Uid:\t65532\t65532\t[\s\S]*^CapEff:\t0+$/m)
})

it('doctor finds nothing wrong with an installation on real nodes', async () => {
  // There is no pod yet whose eviction could be tried.
  await lab.until('doctor is content', () => doctorSays(/guard: evictions are asked of it[\s\S]*^0 problems/m))
})

const doctorSays = async (words: RegExp) => words.test((await lab.cofferdam('doctor')).stdout)

it('a locked budget is locked on a real node: the API server reaches the guard through its Service, and kubectl drain is refused with the words of its owner, which explain and status say too', async () => {
  await lab.kubectl('cordon', 'node-b')
  await lab.apply(...shopObjects(`cofferdam:${version}`))
  shop = followPods(lab.plane, 'shop')
  await lab.until(
    'the shop is ready on node-a',
    () => shop.last().filter(({ isReady, node }) => isReady && node === 'node-a').length === 3,
  )
  await lab.kubectl('uncordon', 'node-b')
  await lab.until('doctor tries the guard', () => doctorSays(/guard: it heard of an eviction[\s\S]*^0 problems/m))
  await typed('lock', 'pdb/shop/orders', '--for', '30m', '--reason', 'rebalancing')
  const refused = await runKubectl(lab.plane, [
    'drain',
    'node-a',
    '--pod-selector=app=orders',
    '--timeout=8s',
    ...drainWords,
  ])
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('rebalancing') })
  for (const words of [['explain', 'node/node-a'], ['status']])
    expect((await lab.cofferdam(...words)).stdout).toContain('rebalancing')
  await typed('unlock', 'pdb/shop/orders')
  await lab.kubectl('uncordon', 'node-a')
})

it('cofferdam drain empties the node, one pod of the budget at a time, and the operator itself moves in the middle', async () => {
  const said = await typed('drain', 'node-a', '--reason', 'kernel update')
  expect(said).toContain('node-a is drained')
  expect(shop.fewestReady('orders', 2)).toBe(1)
  const gone = shop.last().filter(({ node }) => node === 'node-a')
  expect(gone.map(({ name, exitCode }) => [name.split('-')[0], exitCode]).sort()).toEqual([
    ['mill', 137],
    ['orders', 0],
    ['orders', 0],
  ])
  await lab.until('both operators are ready on node-b', async () => (await operatorNodes()).join() === 'node-b,node-b')
  for (const words of [['explain', 'node/node-a'], ['status']])
    expect((await lab.cofferdam(...words)).stdout).toMatch(/node-a[\s\S]*drained/i)
  await typed('uncordon', 'node-a')
})

it('kubectl drain empties the other node, with both operators on it', async () => {
  await lab.until(
    'the shop is ready again',
    () => shop.last().filter(({ isReady, isLeaving }) => isReady && !isLeaving).length === 3,
  )
  await lab.kubectl('drain', 'node-b', '--timeout=90s', ...drainWords)
  expect(shop.fewestReady('orders', 2)).toBe(1)
  await lab.until('both operators are ready on node-a', async () => (await operatorNodes()).join() === 'node-a,node-a')
  await lab.kubectl('uncordon', 'node-b')
})

it('what is uninstalled leaves no mark in the cluster, and no process on a node', async () => {
  await shop.stop()
  await lab.kubectl('delete', 'namespace', 'shop')
  await lab.until('nothing is in the middle', async () => (await lab.cofferdam('uninstall')).code === 0)
  expect(await typed('uninstall', '--yes')).toContain('done: nothing of Cofferdam is left')
  await typedHelm('uninstall', 'cofferdam', '--namespace', namespace)
  await lab.kubectl('delete', 'namespace', namespace)
  expect(await everyMark(lab.kubectl)).toEqual(before)
  const tasks = async () => (await Promise.all(lab.nodes.map((node) => node.tasks()))).flat()
  await lab.until('no container is left', async () => (await tasks()).length === 0, 30)
})
