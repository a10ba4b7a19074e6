import { createExplainCommand } from '@cofferdam/product/cli/explain/explain.ts'
import { createStatusCommand } from '@cofferdam/product/cli/status/status.ts'
import { inProcess, runCommand } from '@cofferdam/product/cli/testing/run-command.ts'
import { viewDrain } from '@cofferdam/product/dashboard/server/cluster-view.ts'
import { openDrains } from '@cofferdam/product/dashboard/server/lock-view-model.ts'
import { disruptionPolicies, policyName } from '@cofferdam/product/shared/kinds/disruption-policy.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { askExplain, askStatus } from './testing/ask-commands.ts'
import { atOneMoment } from './testing/at-one-moment.ts'
import { type LockFixture, openLockFixture } from './testing/lock-fixture.ts'
import { type Maintenances, openMaintenances } from './testing/maintenance-operator.ts'
import { requestsOf } from './testing/requests-of.ts'

let fixture: LockFixture
let maintenances: Maintenances
beforeEach(async () => {
  fixture = await openLockFixture()
  maintenances = await openMaintenances(fixture)
  await fixture.addLeaving('web', { replicas: 3 })
})
afterEach(async () => {
  maintenances.stop()
  await fixture.close()
})

const requestFor = (node: string) => requestsOf(fixture.views, 'node-maintenance').get(node)

/** What each of them says of the request for a node; all of them have to say the same. */
async function answersFor(node: string) {
  const request = requestFor(node)?.metadata.name ?? ''
  const ofNode = <T extends { readonly node: string }>(drains: readonly T[]) =>
    drains.filter((each) => each.node === node)
  return atOneMoment(fixture.api, [nodeDisruptions], async () => {
    const [{ answer: aboutNode }, { answer: aboutRequest }] = [
      await askExplain(fixture, `node/${node}`),
      await askExplain(fixture, `nodedisruption/${request}`),
    ]
    const page = openDrains((await fixture.api.list(nodeDisruptions)).items.map(viewDrain))
    return {
      'explain nodedisruption': 'disruption' in aboutRequest ? [aboutRequest.disruption] : [],
      'explain node': 'disruptions' in aboutNode ? aboutNode.disruptions : [],
      status: ofNode((await askStatus(fixture)).drains),
      page: ofNode(page).map(({ id, ...drain }) => ({ ...drain, request: id })),
    }
  })
}

async function printed(...argv: string[]): Promise<string> {
  const ports = { connect: inProcess(fixture.api).connect, clock: fixture.clock }
  const command = argv[0] === 'status' ? createStatusCommand(ports) : createExplainCommand(ports)
  return (await runCommand(command, ...argv)).out
}

it('a request made for a NodeMaintenance is the same to everybody: who asked, how far it is, what it waits for. Status named a tool and no object, so nobody knew where to end it', async () => {
  fixture.operate()
  await fixture.api.create(disruptionPolicies, {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'DisruptionPolicy',
    metadata: { name: policyName },
    spec: { limits: [{ name: 'all', maxNodes: 1 }] },
  })
  await fixture.request('reboot-2', { nodeName: 'node-2', requester: 'ann@desk' })
  await fixture.reach('reboot-2', 'Drained')
  await maintenances.maintain('node-1', 'new fans')
  await fixture.until('it waits', () => requestFor('node-1')?.status?.phase === 'Waiting')
  const waiting = await answersFor('node-1')
  const [first] = waiting['explain nodedisruption']
  expect(first).toMatchObject({
    requester: 'node-maintenance',
    askedBy: 'nodemaintenance/for-node-1',
    phase: 'Waiting',
    isBlocked: true,
    blockedBy: [{ object: 'limit/all', holder: expect.stringContaining('nodedisruption/reboot-2') }],
  })
  expect(waiting).toEqual(Object.fromEntries(Object.keys(waiting).map((where) => [where, [first]])))

  const name = first?.request ?? ''
  const status = await printed('status', '-o', 'wide')
  expect(status).toMatch(
    new RegExp(
      `node-1 +${name} +Waiting +\\d+s +nodemaintenance/for-node-1 +limit/all \\(MaintenanceLimit, .*nodedisruption/reboot-2\\) `,
    ),
  )
  expect(status).toContain(`node-1 (closed, nodedisruption/${name} is queued)`)
  expect(status).toContain('\nAutoscalers  node node-2: kept from autoscalers')
  const asked = 'node-maintenance (nodemaintenance/for-node-1)'
  expect(await printed('explain', 'node/node-1')).toContain(
    `nodedisruption/${name} by ${asked}, to reboot: Waiting for`,
  )
  expect(await printed('explain', `nodedisruption/${name}`)).toContain(`${asked}: new fans`)

  await fixture.api.delete(nodeDisruptions, { name: 'reboot-2' })
  await fixture.until('it is drained', () => requestFor('node-1')?.status?.phase === 'Drained')
  const drained = await answersFor('node-1')
  const [second] = drained.status
  expect(second).toMatchObject({ phase: 'Drained', askedBy: 'nodemaintenance/for-node-1', isBlocked: false })
  expect(drained).toEqual(Object.fromEntries(Object.keys(drained).map((where) => [where, [second]])))
})
