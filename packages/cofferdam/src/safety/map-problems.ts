import type { ObjectProblem } from '../shared/object-problem.ts'
import type { CephMap } from './ceph-map.ts'
import { failureDomainTypeOf } from './failure-domain.ts'

/** What is wrong with a map that can be used all the same. */
export function mapProblems(map: CephMap): ObjectProblem[] {
  return [...repeatedOsdProblems(map), ...failureDomainTypeOf(map).problems]
}

/** No Ceph prints that: the answer was edited, put together by hand, or is damaged. */
export function repeatedOsdProblems({ repeatedOsds = [] }: Pick<CephMap, 'repeatedOsds'>): ObjectProblem[] {
  return repeatedOsds.map((id) => ({
    object: `osd/${id}`,
    problem: 'ceph osd dump lists it several times; it counts once, and as down if one of the entries says so',
  }))
}
