import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { nodeClaims } from '@cofferdam/kubernetes/api/kinds/karpenter.ts'
import { customResourceDefinitions, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { createOptionalCache } from '@cofferdam/kubernetes/informers/optional-cache.ts'
import { createWatchCache } from '@cofferdam/kubernetes/informers/watch-cache.ts'
import { runController } from '@cofferdam/kubernetes/runtime/controller.ts'
import { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import { changedApi, node, openScenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { expect, it } from 'vitest'
import { buildCustomResourceDefinitions } from '../../deploy/custom-resource-definitions.ts'
import { lateApi } from '../../operator/testing/late-api.ts'
import { type NodeDisruption, nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import { createAutoscalers } from './controller.ts'
import { parseClaim } from './domain/parse-claim.ts'
import { keptAnnotation, scaleDownMarks } from './domain/scale-down-marks.ts'
import { parseMarkedNode } from './domain/snapshot.ts'

const marked = {
  ...Object.fromEntries(scaleDownMarks.map((key) => [key, 'true'])),
  [keptAnnotation]: scaleDownMarks.join(','),
}

/** One node, and an operator that starts now. */
async function open({ annotations = {}, isDrained = false, requestsLateBySeconds = 0, mayReadClaims = true }) {
  const scenario = openScenario()
  const { api, clock, random } = scenario
  for (const definition of buildCustomResourceDefinitions()) await api.create(customResourceDefinitions, definition)
  await api.create(nodes, { ...node(1), metadata: { ...node(1).metadata, annotations } })
  if (isDrained) {
    const request = await api.create(nodeDisruptions, {
      apiVersion: 'cofferdam.io/v1alpha1',
      kind: 'NodeDisruption',
      metadata: { name: 'reboot-1' },
      spec: { nodeName: 'node-1', intent: 'Reboot', honourSkipDrain: true },
    } satisfies NodeDisruption)
    await api.update(nodeDisruptions, { ...request, status: { phase: 'Drained' } }, { subresource: 'status' })
  }
  const readable = changedApi(api, {
    async list(type, query) {
      if (type.plural === nodeClaims.plural && !mayReadClaims)
        throw new ApiError('Forbidden', 'nodeclaims is forbidden')
      return api.list(type, query)
    },
  })
  const late = lateApi({ api: readable, clock }, { type: nodeDisruptions, seconds: requestsLateBySeconds })
  const base = { api: late, clock, random }
  const views = {
    nodes: createWatchCache({ ...base, type: nodes, project: parseMarkedNode }),
    disruptions: createOptionalCache({
      ...base,
      type: nodeDisruptions,
      indexes: { node: ({ spec }) => [spec.nodeName] },
    }),
    claims: createOptionalCache({
      ...base,
      type: nodeClaims,
      project: parseClaim,
      indexes: { node: ({ nodeName }) => [nodeName] },
    }),
  }
  const events = new EventRecorder({ clock, write: async () => {} })
  const controller = runController(createAutoscalers({ api, views, events }), { clock, random })
  await clock.advance(1_000)
  return {
    ...scenario,
    annotations: async () => (await api.get(nodes, { name: 'node-1' })).metadata.annotations ?? {},
    async close() {
      const stopping = controller.stop()
      await clock.advance(10_000)
      await stopping
      await Promise.all(Object.values(views).map((view) => view.stop()))
      scenario.stop()
    },
  }
}

it('an operator that starts takes back marks whose request is gone, and leaves what others have written', async () => {
  const { annotations, close } = await open({ annotations: { ...marked, 'example.com/rack': '7' } })
  expect(await annotations()).toEqual({ 'example.com/rack': '7' })
  await close()
})

it('an operator that has not read all requests takes nothing back: the node would be scaled down in its reboot', async () => {
  const { annotations, seconds, close } = await open({
    annotations: marked,
    isDrained: true,
    requestsLateBySeconds: 60,
  })
  await seconds(30)
  expect(await annotations()).toEqual(marked)
  await seconds(60)
  expect(await annotations()).toEqual(marked)
  await close()
})

it('a node is marked although claims of Karpenter may not be read: they only add to what is said', async () => {
  const { annotations, close } = await open({ isDrained: true, mayReadClaims: false })
  expect(await annotations()).toEqual(marked)
  await close()
})
