import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { ViewChange } from '@cofferdam/kubernetes/informers/watch-view.ts'

/** What became different between two readings of one collection. */
export function changesOf<T>(before: ReadonlyMap<string, T>, after: ReadonlyMap<string, T>): ViewChange<T>[] {
  const gone = [...before].flatMap(([key, previous]): ViewChange<T>[] =>
    after.has(key) ? [] : [{ type: 'removed', key, previous }],
  )
  const here = [...after].flatMap(([key, value]): ViewChange<T>[] => {
    const previous = before.get(key)
    if (previous === undefined) return [{ type: 'added', key, value }]
    return isSameJson(previous, value) ? [] : [{ type: 'changed', key, value, previous }]
  })
  return [...gone, ...here]
}
