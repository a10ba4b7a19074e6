import { execFile } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { createCliCommands } from '@cofferdam/product/ceph/cli-commands.ts'
import { createPgParser } from '@cofferdam/product/ceph/create-pg-parser.ts'
import { askOkToStop } from '@cofferdam/product/ceph/ok-to-stop.ts'
import { type CephFile, cephFiles } from '@cofferdam/product/ceph/saved/ceph-files.ts'
import { createPlanCommand } from '@cofferdam/product/cli/plan/plan.ts'
import type { OsdUpdatePlan } from '@cofferdam/product/cli/plan/plan-osd-update-text.ts'
import { runCommand } from '@cofferdam/product/cli/testing/run-command.ts'
import { withCephFiles } from '@cofferdam/product/cli/testing/write-ceph-files.ts'
import { smallDescription } from '@cofferdam/simulator/world/ceph/testing/ceph-fixture.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startClientLoad } from './ceph/client-load.ts'
import { type CephLab, openLabCeph } from './ceph/open-lab-ceph.ts'

const everyOsd = Array.from({ length: 12 }, (_, id) => id)
const cluster: CephCluster = {
  apiVersion: 'ceph.rook.io/v1',
  kind: 'CephCluster',
  metadata: { name: 'lab', namespace: 'rook-ceph' },
}

let lab: CephLab
beforeAll(async () => {
  lab = await openLabCeph('plan-osd-update', smallDescription())
  const load = startClientLoad({ ...lab, pools: ['rep', 'ec'] })
  await pause(2_000)
  expect((await load.stop()).faults).toEqual([])
})
afterAll(() => lab?.close())

/** What the program prints that people have, as they would save it. */
async function save(): Promise<Record<CephFile, string>> {
  const { conf = '', name = '', keyring = '' } = lab.ceph.operator
  const saved = Object.entries(cephFiles).map(async ([file, command]) => {
    const args = [...command.split(' ').slice(1), '-f', 'json', '--conf', conf, '--name', name, '--keyring', keyring]
    const { stdout } = await promisify(execFile)('ceph', args, { maxBuffer: 2 ** 26 })
    return [file, stdout] as const
  })
  return Object.fromEntries(await Promise.all(saved)) as Record<CephFile, string>
}

async function plan(...argv: string[]): Promise<OsdUpdatePlan & { readonly code: number }> {
  const { close, ...parsers } = createPgParser()
  const commands = createCliCommands({ clock: realClock, environment: process.env, access: lab.ceph.operator })
  const api = { list: async () => ({ items: [cluster] }) } as unknown as KubeApi
  const command = createPlanCommand({
    clock: realClock,
    connect: async () => ({ api, server: 'none', close: async () => undefined }),
    openCeph: () => ({ of: () => commands, parsers, close }),
    cpuMs: () => 0,
  })
  const { code, out, err } = await runCommand(
    command,
    'plan',
    'osd-update',
    '--cpu-seconds',
    '0',
    '-o',
    'json',
    ...argv,
  )
  expect(err).toBe('')
  return { code, ...(JSON.parse(out) as OsdUpdatePlan) }
}

describe('plan osd-update of a real Ceph', () => {
  it('is the same live and from saved files, and Ceph agrees with every round', async () => {
    const live = await plan('--max-parallel', '100%')
    const saved = await withCephFiles(await save(), (from) => plan('--from', from, '--max-parallel', '100%'))
    expect(saved).toEqual(live)
    expect({ code: live.code, blocked: live.blocked, osds: live.rounds.flat().sort((a, b) => a - b) }).toEqual({
      code: 0,
      blocked: [],
      osds: everyOsd,
    })
    const operator = lab.connect(lab.ceph.operator)
    for (const osds of live.rounds) {
      expect({ osds, mayStop: await askOkToStop(operator, osds) }).toEqual({
        osds,
        mayStop: { known: true, value: true },
      })
    }
  })
})
