import type { PodTemplateSpec } from '@cofferdam/kubernetes/api/core.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { type ActorTools, deleteExactly } from '../actor.ts'
import { byAge } from '../pod-facts.ts'
import { controllerReference, indexByController } from './owned-pods.ts'
import { templateHash } from './template-hash.ts'

/** A pod template as it was at some time, kept so that a rollout can go back to it. */
export interface ControllerRevision extends KubeObject {
  readonly data?: { readonly spec?: { readonly template?: PodTemplateSpec } }
  readonly revision: number
}

export const controllerRevisions: ResourceType<ControllerRevision> = {
  group: 'apps',
  version: 'v1',
  plural: 'controllerrevisions',
  kind: 'ControllerRevision',
  namespaced: true,
}

export interface TemplateOwner extends KubeObject {
  readonly spec: { readonly template: PodTemplateSpec; readonly revisionHistoryLimit?: number }
}

/** All revisions of an owner, oldest first. */
export function revisionsOf(tools: ActorTools, owner: KubeObject): ControllerRevision[] {
  const owned = indexByController(tools.views.of(controllerRevisions))(owner.metadata.uid as string)
  return [...owned].sort((a, b) => a.revision - b.revision || byAge(a, b))
}

/** The revision of the owner's template of today, made or made the latest where that is needed. */
export async function ensureRevision(
  tools: ActorTools,
  owner: TemplateOwner,
  { type, hashLabel }: { type: ResourceType; hashLabel: string },
): Promise<ControllerRevision> {
  const known = revisionsOf(tools, owner)
  const latest = known.at(-1)
  const { template } = owner.spec
  const same = known.findLast(({ data }) => isSameJson(withoutPatchMark(data?.spec?.template), template))
  if (same !== undefined && same === latest) return same
  const revision = (latest?.revision ?? 0) + 1
  const view = tools.views.of(controllerRevisions)
  if (same !== undefined) {
    const raised = await tools.api.update(controllerRevisions, { ...same, revision })
    view.record(raised)
    return raised
  }
  const hash = templateHash(template)
  const created = await tools.api.create(controllerRevisions, {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${owner.metadata.name}-${hash}`,
      namespace: owner.metadata.namespace as string,
      labels: { ...template.metadata?.labels, [hashLabel]: hash },
      ownerReferences: [controllerReference(owner, type)],
    },
    // `kubectl rollout undo` sends this as a strategic merge patch, and the mark makes it replace the whole template.
    data: { spec: { template: { ...template, $patch: 'replace' } as PodTemplateSpec } },
    revision,
  })
  view.record(created)
  return created
}

function withoutPatchMark(template: PodTemplateSpec | undefined): PodTemplateSpec | undefined {
  if (template === undefined) return undefined
  const { $patch: _, ...rest } = template as PodTemplateSpec & { $patch?: string }
  return rest
}

export function templateOf(revision: ControllerRevision): PodTemplateSpec | undefined {
  return withoutPatchMark(revision.data?.spec?.template)
}

/** Forgets the oldest revisions that nothing uses, down to the owner's limit. */
export async function dropOldRevisions(
  tools: ActorTools,
  owner: TemplateOwner,
  isInUse: (revision: ControllerRevision) => boolean,
): Promise<void> {
  const idle = revisionsOf(tools, owner).filter((revision) => !isInUse(revision))
  const excess = idle.length - (owner.spec.revisionHistoryLimit ?? 10)
  for (const revision of idle.slice(0, Math.max(0, excess))) await deleteExactly(tools, controllerRevisions, revision)
}
