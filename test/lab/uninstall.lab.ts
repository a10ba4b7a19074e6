import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { operatorAccount } from '@cofferdam/product/deploy/operator-manifests.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { watchHandOver } from '../../scenarios/testing/hand-over-oracle.ts'
import { everyMark } from './control-plane/every-mark.ts'
import { runHelm } from './control-plane/run-helm.ts'
import { unpackImage } from './image/unpack-image.ts'
import { type Lab, openLab } from './lab.ts'
import { findHelm } from './parts/find-helm.ts'
import type { ProgramEnd } from './processes/run-program.ts'
import { startRookDisruption } from './rook/start-rook-disruption.ts'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }
const release = ['cofferdam', '--namespace', operatorAccount.namespace]
const chart = 'deploy/helm/cofferdam'
/** What a stranger types, with the seconds that each took. */
const commands: { readonly line: string; readonly seconds: number }[] = []

let folder: string
let lab: Lab
let helm: string
beforeAll(async () => {
  helm = (await findHelm((line) => console.error(line))).helm
  folder = await mkdtemp(join(tmpdir(), 'lab-uninstall-'))
  const began = performance.now()
  await promisify(execFile)(process.execPath, ['scripts/image.mjs', '--out', join(folder, 'oci')])
  commands.push({ line: 'npm run image', seconds: (performance.now() - began) / 1_000 })
  const image = await unpackImage(join(folder, 'oci'), `${version}-ceph`, join(folder, 'root'))
  lab = await openLab('uninstall', { operatorProgram: image.command() })
  await startRookDisruption(lab)
}, 300_000)
afterAll(async () => {
  await lab?.close()
  await rm(folder, { recursive: true, force: true })
})

async function counted(line: string, running: Promise<ProgramEnd>): Promise<ProgramEnd> {
  const began = performance.now()
  let end: ProgramEnd | undefined
  void running.then((ended) => {
    end = ended
  })
  await lab.until(line, () => end !== undefined, 240)
  commands.push({ line, seconds: (performance.now() - began) / 1_000 })
  const { code, stdout, stderr } = end as ProgramEnd
  if (code !== 0) throw new Error(`${line}: exit code ${code}: ${stderr || stdout}`)
  return end as ProgramEnd
}

const typed = (...words: readonly string[]) => counted(`cofferdam ${words.join(' ')}`, lab.cofferdam(...words).ended)
const typedHelm = (...words: readonly string[]) =>
  counted(`helm ${words.join(' ')}`, runHelm({ program: helm, folder: lab.folder, plane: lab.plane }, words))

it('a stranger builds the image, installs the chart beside Rook, adopts, drains and uninstalls: nothing is left, and no OSD was without a budget', async () => {
  const before = await everyMark(lab.kubectl)
  const values = ['--set', 'ceph.clusters={rook-ceph/rook-ceph}']
  const cluster = 'cephcluster/rook-ceph/rook-ceph'
  await lab.installOperator({
    besideRook: true,
    apply: () =>
      typedHelm('install', ...release.slice(0, 1), chart, ...release.slice(1), '--create-namespace', ...values),
  })
  await typed('adopt', cluster)
  await typed('drain', 'node-a')
  expect((await typed('status')).stdout).toContain('node-a')

  lab.chapter('In the middle of the drain nothing can be uninstalled')
  const refused = await lab.cofferdam('uninstall', '--yes').ended
  expect(refused).toMatchObject({ code: 3, stdout: expect.stringContaining('node-a') })

  await typed('uncordon', 'node-a')
  await lab.until('one budget covers all OSDs again', () => lab.osdBudgets().join() === 'rook-ceph-osd', 120)
  await lab.until('nothing is in the middle', async () => (await lab.cofferdam('uninstall').ended).code === 0, 120)

  lab.chapter('Cofferdam leaves')
  const oracle = watchHandOver({ api: lab.api, namespace: lab.namespace }, () => [], 'topology-location-rack')
  const role = await lab.cofferdam('uninstall', '--print-role').ended
  await lab.kubectlWith(role.stdout, 'apply', '-f', '-')
  const bound = ['clusterrolebinding', 'cofferdam-uninstall'] as const
  await lab.kubectl('create', ...bound, '--clusterrole=cofferdam-uninstall', '--user=ann')
  const { stdout } = await typed('uninstall', '--yes', '--as', 'ann')
  await lab.kubectl('delete', ...bound)
  await lab.kubectl('delete', 'clusterrole', 'cofferdam-uninstall')
  expect(stdout).toMatch(/done: nothing of Cofferdam is left[\s\S]*0 moments without protection/)
  expect(lab.operators().size).toBe(0)
  await typedHelm('uninstall', ...release)
  const deleteNamespace = ['delete', 'namespace', operatorAccount.namespace]
  await counted(`kubectl ${deleteNamespace.join(' ')}`, lab.kubectl(...deleteNamespace))
  await oracle.stop()
  expect(oracle.gaps).toEqual([])
  expect(await lab.nooutBuckets()).toEqual([])
  expect(await everyMark(lab.kubectl)).toEqual(before)

  expect(lab.oracle.violations).toEqual([])
  const total = commands.reduce((sum, { seconds }) => sum + seconds, 0)
  console.log(
    [
      `From nothing to nothing: ${commands.length} commands, ${total.toFixed(1)} s`,
      ...commands.map(({ line, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${line}`),
    ].join('\n'),
  )
})
