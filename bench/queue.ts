import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { installDefinitions } from '@cofferdam/product/ledger/store/testing/ledger-fixture.ts'
import { createLog } from '@cofferdam/product/operator/log.ts'
import { createMetrics } from '@cofferdam/product/operator/metrics.ts'
import { startOperator } from '@cofferdam/product/operator/operator.ts'
import { disruptionLedgers, ledgerName } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { disruptionPolicies, policyName } from '@cofferdam/product/shared/kinds/disruption-policy.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'
import { cpuSecondsOf, printRows, type Row } from './report/rows.ts'

const rolled = 10
const idleMinutes = 5

/** Empty nodes, of which one at a time may be in maintenance, with a request for each, all made at once. */
async function openQueue(count: number) {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1, 12))
  const api = new ApiServer({ clock, random: seededRandom(1) }).as(clusterAdmin)
  await installDefinitions(api)
  await api.create(disruptionPolicies, {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'DisruptionPolicy',
    metadata: { name: policyName },
    spec: { limits: [{ name: 'all', maxNodes: 1 }] },
  })
  const nameOf = (number: number) => `node-${number}`
  /** It is up, for the so-manieth time. */
  const boot = (name: string, times: number) => {
    const status = { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { bootID: `boot-${times}` } }
    return api.patch(nodes, { name }, { type: 'merge', body: { status } }, { subresource: 'status' })
  }
  for (let number = 0; number < count; number += 1) {
    await api.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: nameOf(number) } })
    await boot(nameOf(number), 1)
  }
  const calls = { ledger: 0, all: 0 }
  const counted = changedApi(api, {
    get(type, key, options) {
      calls.all += 1
      if (type.plural === disruptionLedgers.plural) calls.ledger += 1
      return api.get(type, key, options)
    },
    list(type, options) {
      calls.all += 1
      return api.list(type, options)
    },
    update(type, object, options) {
      calls.all += 1
      return api.update(type, object, options)
    },
    patch(type, key, patch, options) {
      calls.all += 1
      return api.patch(type, key, patch, options)
    },
  })
  const operator = startOperator({
    api: counted,
    clock,
    random: seededRandom(2),
    log: createLog('silent'),
    metrics: createMetrics(),
    controllers: ['node-disruption', 'disruption-ledger', 'finished-requests'],
    dryRun: false,
  })
  await clock.advance(5_000)
  for (let number = 0; number < count; number += 1) {
    await api.create(nodeDisruptions, {
      apiVersion: 'cofferdam.io/v1alpha1',
      kind: 'NodeDisruption',
      metadata: { name: `reboot-${number}` },
      spec: { nodeName: nameOf(number), intent: 'Reboot', honourSkipDrain: true },
    })
  }
  const phases = async () => (await api.list(nodeDisruptions)).items.map(({ status }) => status?.phase ?? 'Pending')

  return {
    clock,
    calls,
    /** Until each has said what it waits for. */
    async settle() {
      for (let minute = 0; minute < 30; minute += 1) {
        await clock.advance(60_000)
        const known = await phases()
        if (!known.includes('Pending') && known.includes('Drained')) return
      }
      throw new Error('the queue did not settle in half an hour')
    },
    /** Reboots whatever may go, until so many more are through. */
    async roll(many: number) {
      const done = async () => (await phases()).filter((phase) => phase === 'Completed').length
      const target = (await done()) + many
      for (let second = 0; second < 3_600 && (await done()) < target; second += 1) {
        const { items } = await api.list(nodeDisruptions)
        for (const { spec, status } of items) {
          if (status?.phase === 'Drained') await boot(spec.nodeName, 2)
        }
        await clock.advance(1_000)
      }
      if ((await done()) < target) throw new Error(`only ${await done()} requests came through`)
    },
    ledgerBytes: async () => JSON.stringify(await api.get(disruptionLedgers, { name: ledgerName })).length,
    async stop() {
      const stopped = operator.stop()
      await clock.advance(60_000)
      await stopped
    },
  }
}

async function measureQueue(count: number): Promise<Row[]> {
  const queue = await openQueue(count)
  const { clock, calls } = queue
  const inLine = await cpuSecondsOf(() => queue.settle())
  const before = { ...calls }
  const idle = await cpuSecondsOf(() => clock.advance(idleMinutes * 60_000))
  const atRest = calls.all - before.all
  const reads = calls.ledger - before.ledger
  const from = { ...calls }
  const rolling = await cpuSecondsOf(() => queue.roll(rolled))
  const each = (calls.all - from.all) / rolled
  const bytes = await queue.ledgerBytes()
  await queue.stop()
  const perMinute = (idle / idleMinutes) * 1_000
  const what = `${count.toLocaleString('en')} requests, one at a time`
  return [
    {
      measured: `${what}: CPU until each has said what it waits for, simulated API server included`,
      result: `${((inLine / count) * 1_000).toFixed(1)} ms each`,
      goal: 'told only',
      reached: true,
    },
    {
      measured: `${what}: size of the ledger`,
      result: `${(bytes / 1024).toFixed(0)} KiB`,
      goal: 'under 1,024 KiB',
      reached: bytes < 1024 * 1024,
    },
    {
      measured: `${what}: a minute in which nothing happens, CPU`,
      result: `${perMinute.toFixed(0)} ms`,
      goal: 'under 1,000 ms',
      reached: perMinute < 1_000,
    },
    {
      measured: `${what}: the same, calls to the API server (reads of the ledger)`,
      result: `${(atRest / idleMinutes).toFixed(0)} (${(reads / idleMinutes).toFixed(0)})`,
      goal: 'at most 4 per queued request',
      reached: atRest / idleMinutes <= 4 * Math.min(count, 1_000) + 100,
    },
    {
      measured: `${what}: a node from Drained to the next one Drained, calls`,
      result: each.toFixed(0),
      goal: 'at most 150',
      reached: each <= 150,
    },
    {
      measured: `${what}: the same, CPU`,
      result: `${((rolling / rolled) * 1_000).toFixed(0)} ms`,
      goal: 'told only',
      reached: true,
    },
  ]
}

const rows: Row[] = []
for (const count of [100, 1_000]) rows.push(...(await measureQueue(count)))
printRows(rows)
