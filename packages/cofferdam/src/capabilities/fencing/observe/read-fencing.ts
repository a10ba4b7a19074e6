import { closestName } from '@cofferdam/kubernetes/api/closest-name.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import type { Ledger } from '../../../ledger/rules/ledger.ts'
import { attendanceOf } from '../../../shared/attendance.ts'
import { isClosedToPods } from '../../../shared/closed-node.ts'
import type { Observed } from '../../../shared/observed.ts'
import type { StorageView } from '../../../shared/storage-view.ts'
import type { ReadPorts } from '../../ports.ts'
import { asWritten } from '../domain/as-written.ts'
import { decideFencing } from '../domain/decide.ts'
import { parseFencing } from '../domain/parse-fencing.ts'
import type { MachineView } from '../domain/snapshot.ts'
import type { FencingView } from '../view/fencing-view.ts'
import { observeFencing, unreadViews } from './observe.ts'
import { FencedOsds } from './osds.ts'
import { recordedDecisions } from './recorded-decisions.ts'
import { recordedEvidence } from './recorded-evidence.ts'
import { openFencingViews } from './views.ts'

export interface FencingQuestion {
  /** What ceph-drain wrote down. */
  readonly storage: readonly StorageView[]
  readonly ledger: Observed<Ledger>
}

/**
 * Machines, budgets and remediators, and what the operator's decision makes of them. Undefined where the API server knows neither
 * Machines nor NodeHealthChecks.
 *
 * Fails closed: without the clusters, nodes, OSDs or budgets there is no answer, rather than one that is too kind; what could
 * not be read is noted.
 */
export async function readFencing(
  read: ReadPorts,
  { storage, ledger }: FencingQuestion,
): Promise<FencingView | undefined> {
  const { informers, clock } = read
  const views = openFencingViews(read)
  const closings = informers.open('nodes/closings', {
    type: nodes,
    project: (node) => ({ name: node.metadata.name, isClosed: isClosedToPods(node) }),
  })
  await informers.settled()
  const fenceable = [views.openshiftMachines, views.clusterApiMachines, views.nodeHealthChecks]
  if (!fenceable.some((view) => view.isServed())) return undefined
  if (unreadViews(views).length > 0) return undefined
  const attendance = attendanceOf(await read.operator())
  const { snapshot } = observeFencing(
    {
      clock,
      views,
      ledger: undefined,
      plannedOutageMs: read.settings.drainLock.plannedOutageMs,
      parse: parseFencing,
      osds: new FencedOsds(),
      decisions: recordedDecisions({ storage, views, nodes: [...closings.list()] }),
      recordedEvidence: recordedEvidence({ nowMs: clock.now(), views, attendance }),
    },
    { ledger },
  )
  return { snapshot, decision: asWritten(snapshot, decideFencing(snapshot)), ...attendance }
}

/**
 * A machine by its name, of whichever API.
 *
 * @throws CofferdamError OBJECT_NOT_FOUND whose hint is the closest name there is, or why none can be seen
 */
export function findMachine(
  view: FencingView | undefined,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  notSeen: readonly string[],
): { readonly view: FencingView; readonly machine: MachineView } {
  const here = (view?.snapshot.machines ?? []).filter((each) => each.namespace === namespace)
  const machine = here.find((each) => each.name === name)
  if (view !== undefined && machine !== undefined) return { view, machine }
  const closest = closestName(
    name,
    here.map((each) => each.name),
  )
  const object = `${namespace}/${name}`
  const refused = notSeen.length === 0 ? 'the API server knows no kind of Machine' : `not seen: ${notSeen.join('; ')}`
  const known =
    closest === undefined ? `kubectl -n ${namespace} get machines shows those there are` : `did you mean ${closest}?`
  throw new CofferdamError('OBJECT_NOT_FOUND', `there is no Machine ${object}`, {
    facts: { kind: 'Machine', object },
    hint: view === undefined ? refused : known,
  })
}
