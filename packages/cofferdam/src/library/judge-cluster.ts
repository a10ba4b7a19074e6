import { nodes as nodeType } from '@cofferdam/kubernetes/api/resources.ts'
import { chooseNodes } from '../cli/choose-nodes.ts'
import { explainSubject } from '../cli/explain/explain-observe.ts'
import { parseSubject } from '../cli/explain/explain-subject.ts'
import { locateSubject } from '../cli/explain/locate-subject.ts'
import { planNodes } from '../cli/plan/plan-nodes.ts'
import { openSavedCluster } from '../cli/snapshot/open-saved-cluster.ts'
import { kindName, type SavedCluster } from '../cli/snapshot/saved-cluster.ts'
import { operatorAccount } from '../deploy/operator-manifests.ts'
import { openReader } from '../observe/reader.ts'

interface Options {
  readonly nodes?: readonly string[]
  readonly intent?: 'Reboot' | 'Remove' | 'Replace'
  readonly honourSkipDrain?: boolean
  readonly force?: boolean
  readonly deleteEmptyDirData?: boolean
}

/** What `ClusterState` of the library answers: the commands with `--from` ask the same. */
export function judgeCluster(saved: SavedCluster) {
  const { link, clock } = openSavedCluster(saved)
  const { signal } = new AbortController()
  const { namespace: leaseNamespace } = operatorAccount
  const listed = saved.kinds.find((kind) => kindName(kind) === kindName(nodeType))?.items ?? []

  async function planDrain({
    nodes: asked,
    intent = 'Reboot',
    honourSkipDrain = true,
    force = false,
    deleteEmptyDirData = false,
  }: Options = {}) {
    const chosen = await chooseNodes(asked ?? [], { all: asked === undefined }, { api: link.api, signal })
    const accepts = [
      ...(force ? ['force' as const] : []),
      ...(deleteEmptyDirData ? ['deleteEmptyDirData' as const] : []),
    ]
    const plan = await planNodes(
      chosen.nodes.map(({ metadata }) => metadata.name),
      { intent, honourSkipDrain, accepts },
      { link, clock, signal, leaseNamespace },
    )
    return {
      waves: plan.waves,
      lowerBound: plan.lowerBound,
      never: plan.never.map(({ node, why }) => ({ node, why })),
      unknown: plan.unknown.map(({ node, object, why }) => ({ node, object, why })),
      waits: plan.waits.map(({ node, object, reason, why }) => ({ node, object, reason, why })),
      notSeen: plan.notSeen,
    }
  }

  async function explain(object: string, { namespace }: { readonly namespace?: string } = {}) {
    const asked = parseSubject([object], namespace)
    const read = await openReader({ api: link.api, clock, leaseNamespace, signal })
    const subject = await locateSubject(asked, { ...read, namespace: namespace ?? 'default' })
    const { object: named, verdict, summary, blockers, notSeen } = await explainSubject(subject, { ...read, list: [] })
    return {
      object: named,
      verdict,
      summary,
      blockers: blockers.map(({ object: of, reason, explanation, holder, since, unblocks, override }) => {
        return { object: of, reason, explanation, holder, ...(since && { since }), unblocks, override }
      }),
      notSeen,
    }
  }

  return {
    takenAt: saved.takenAt,
    nodes: listed.map(({ metadata }) => metadata.name),
    planDrain,
    explain,
  }
}
