import { expect, it } from 'vitest'
import { type MachineDeletionViews, observeMachineDeletion } from './observe.ts'

it('what has not been read yet is unknown, not empty: the drains of Machines that are being deleted would be ended', () => {
  const view = (synced: boolean) => ({ synced, list: () => [] })
  const observe = (unread: string) => {
    const names = ['openshift', 'clusterApi', 'nodes', 'disruptions']
    const views = Object.fromEntries(names.map((name) => [name, view(name !== unread)]))
    const { machines, nodes, requests } = observeMachineDeletion(views as unknown as MachineDeletionViews, 0)
    return [machines, nodes, requests].map(({ known }) => known)
  }
  expect(observe('none')).toEqual([true, true, true])
  expect(observe('openshift')).toEqual([false, true, true])
  expect(observe('clusterApi')).toEqual([false, true, true])
  expect(observe('nodes')).toEqual([true, false, true])
  expect(observe('disruptions')).toEqual([true, true, false])
})
