import { expect, it } from 'vitest'
import type { NodeView, PodView } from './cluster-view.ts'
import { choosePods, countPods } from './shown-pods.ts'

const node = (id: string, more: Partial<NodeView> = {}): NodeView => ({
  id,
  zone: 'a',
  roles: [],
  readiness: 'ready',
  isCordoned: false,
  ...more,
})
const pod = (id: string, onNode?: string): PodView => ({
  id,
  namespace: 'shop',
  name: id,
  app: 'web',
  state: 'ready',
  restarts: 0,
  ...(onNode === undefined ? {} : { node: onNode }),
})
const many = (count: number, onNode?: string) =>
  Array.from({ length: count }, (_, at) => pod(`${onNode}-${at}`, onNode))

it('of a small cluster every pod is sent, and nothing is counted twice', () => {
  const pods = [pod('p', 'calm'), pod('q', 'gone')]
  expect(choosePods([node('calm')], pods)).toBe(pods)
  expect(countPods(pods)).toEqual([])
})

it('of a large one those on nodes that are closed, down or gone, so that a page stays small, and all are counted', () => {
  const nodes = [node('calm'), node('closed', { isCordoned: true }), node('down', { readiness: 'unknown' })]
  const pods = [...many(2_000, 'calm'), ...many(3, 'closed'), ...many(2, 'down'), ...many(4, 'gone'), ...many(300)]
  const places = choosePods(nodes, pods).map(({ node: onNode }) => onNode ?? 'waiting')
  const counts = Object.fromEntries(
    [...new Set(places)].map((place) => [place, places.filter((each) => each === place).length]),
  )
  expect(counts).toEqual({ closed: 3, down: 2, gone: 4, waiting: 200 })
  expect(countPods(pods)).toEqual([
    { id: 'calm', pods: 2_000, ready: 2_000 },
    { id: 'closed', pods: 3, ready: 3 },
    { id: 'down', pods: 2, ready: 2 },
    { id: 'gone', pods: 4, ready: 4 },
    { id: '', pods: 300, ready: 300 },
  ])
})

it('of a cluster that is down as a whole those of sixty nodes', () => {
  const names = Array.from({ length: 500 }, (_, at) => `n${at}`)
  const nodes = names.map((name) => node(name, { readiness: 'unknown' }))
  const pods = names.flatMap((name) => many(10, name))
  expect(new Set(choosePods(nodes, pods).map(({ node: onNode }) => onNode)).size).toBe(60)
})
