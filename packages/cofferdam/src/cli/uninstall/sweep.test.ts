import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { customResourceDefinitions } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { expect, it } from 'vitest'
import { trace } from '../../shared/trace.ts'
import { sweepTraces } from './sweep.ts'

const definition = trace({
  type: customResourceDefinitions,
  keys: [],
  removal: () => ({ verb: 'delete', says: 'kind of Cofferdam' }),
})

/** A kind that is there for so long after it was deleted: the API server deletes all its objects first. */
async function sweep(goneAfterMs: number) {
  const clock = new VirtualClock()
  let deletedMs: number | undefined
  const object = (): KubeObject => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'x', ...(deletedMs === undefined ? {} : { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
  })
  const isGone = () => deletedMs !== undefined && clock.now() - deletedMs >= goneAfterMs
  const api = {
    list: async () => ({ items: isGone() ? [] : [object()] }),
    delete: async () => {
      deletedMs ??= clock.now()
      return object()
    },
  } as unknown as KubeApi
  const { signal } = new AbortController()
  const around = { rooksNamespaces: new Set<string>() }
  const swept = sweepTraces({ api, signal, clock, around, cephNamespaces: [], deadlineMs: clock.now() + 60_000 }, [
    definition,
  ])
  await clock.advance(120_000)
  return swept
}

const one = { object: 'customresourcedefinition/x', what: 'kind of Cofferdam' }

it('a kind that the API server deletes by and by is waited for: the command said that another client wrote it again', async () => {
  expect(await sweep(20_000)).toEqual({ removed: [one], left: [] })
})

it('what is still there when the time is used up is named: a user could not find out what keeps it', async () => {
  expect(await sweep(600_000)).toEqual({ removed: [one], left: [one] })
})
