import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { ObjectKey, ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { EventSubject } from '@cofferdam/kubernetes/runtime/build-event.ts'
import type { PageAction } from '../../../dashboard/server/action-desk.ts'

/** One of its commands: a merge patch, as kubectl sends it, or a command of this program. */
export type DemoStep =
  | { readonly do: 'patch'; readonly type: ResourceType; readonly key: ObjectKey; readonly body: JsonObject }
  | { readonly do: 'run'; readonly argv: readonly string[] }

/** A button of the demo: what it says, and what it does. */
export interface DemoAction extends PageAction {
  readonly steps: readonly DemoStep[]
  /** What the timeline shows it with. */
  readonly about: EventSubject
}

export function annotateStep(type: ResourceType, key: ObjectKey, annotations: JsonObject): DemoStep {
  return { do: 'patch', type, key, body: { metadata: { annotations } } }
}
