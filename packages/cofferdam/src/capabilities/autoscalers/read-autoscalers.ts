import type { KeepSnapshot } from './domain/snapshot.ts'
import { type KeepViews, observeKeeping } from './observe.ts'

export interface AutoscalerReadPorts {
  readonly views: { readonly [Name in keyof KeepViews]: () => KeepViews[Name] }
  readonly signal: AbortSignal
}

/** Every node, as the operator sees it. */
export async function readAutoscalers({ views, signal }: AutoscalerReadPorts): Promise<readonly KeepSnapshot[]> {
  const opened: KeepViews = { nodes: views.nodes(), disruptions: views.disruptions(), claims: views.claims() }
  await Promise.all(Object.values(opened).map((view) => view.whenSynced(signal)))
  return [...opened.nodes.list()].flatMap(({ name }) => observeKeeping(opened, name) ?? [])
}
