import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { excludedFromRemediation } from '@cofferdam/kubernetes/api/kinds/node-maintenance.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { isSelected, type LabelSelector } from '@cofferdam/kubernetes/api/label-selector.ts'
import { ListIndex } from '../../../shared/read-lists.ts'
import { Remembered } from '../../../shared/remembered.ts'
import { KeptList } from './kept-list.ts'
import type { MachineView } from './snapshot.ts'

interface Selection {
  readonly selector: LabelSelector
  readonly machines: KeptList<MachineView, string | undefined>
  readonly nodes: KeptList<Node, string | undefined>
  readonly same: ListIndex<string, readonly string[]>
}

/** Which nodes health checks manage. The list of one stays the same object while it has the same nodes. */
export class WatchedNodes {
  readonly #lists = new Remembered()
  readonly #selections = new Map<string, Selection>()

  machines(check: KubeObject, selector: LabelSelector, machines: readonly MachineView[]): readonly string[] {
    const { namespace = '' } = check.metadata
    const { machines: kept, same } = this.#selectionOf(check, selector)
    const found = kept.of(machines, (machine) =>
      machine.namespace === namespace && isSelected(selector, machine.labels) ? machine.nodeName : undefined,
    )
    return this.#lists.make(found, [], () => same.of(found.filter((node) => node !== undefined)))
  }

  /** A node that is excluded from remediation is none of theirs: nothing has to keep them from it, and the Lease is left to whoever excluded it. */
  nodes(check: KubeObject, selector: LabelSelector, nodes: readonly Node[]): readonly string[] {
    const { nodes: kept, same } = this.#selectionOf(check, selector)
    const found = kept.of(nodes, ({ metadata: { name, labels = {} } }) =>
      isSelected(selector, labels) && labels[excludedFromRemediation] !== 'true' ? name : undefined,
    )
    return this.#lists.make(found, [], () => same.of(found.filter((node) => node !== undefined)))
  }

  #selectionOf({ apiVersion, kind, metadata }: KubeObject, selector: LabelSelector): Selection {
    const key = `${apiVersion} ${kind} ${metadata.namespace ?? ''}/${metadata.name}`
    const known = this.#selections.get(key)
    if (known?.selector === selector) return known
    const made = {
      selector,
      machines: new KeptList<MachineView, string | undefined>(),
      nodes: new KeptList<Node, string | undefined>(),
      same: new ListIndex((names: readonly string[]) => names),
    }
    this.#selections.set(key, made)
    return made
  }
}
