import { isJsonObject, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { Machine, MachineHealthCheck, NodeHealthCheck } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import {
  gateMarks,
  gateValue,
  hookName,
  hookOwner,
  isOwnPauseRequest,
  marks,
  pausedAnnotation,
  pauseRequest,
  skipAnnotation,
} from './marks.ts'
import { marksOf } from './parse-machine.ts'
import type { RemediatorView } from './snapshot.ts'

/** What of a change its patch depends on. */
type PatchedGate =
  | { readonly kind: 'skip-machine' | 'unskip-machine' | 'hook-machine' | 'unhook-machine' }
  | { readonly kind: 'pause' | 'resume'; readonly remediatorKind: RemediatorView['kind'] }

/**
 * The JSON merge patch that sets a gate or takes it back, from the object as it was seen; undefined: nothing to do. Its
 * resourceVersion lets the API server refuse it when the object has changed since.
 *
 * Guarantees: what others set stays, and only what carries our mark is taken back.
 */
export function buildGatePatch(
  change: PatchedGate,
  seen: Machine | MachineHealthCheck | NodeHealthCheck,
): JsonObject | undefined {
  switch (change.kind) {
    case 'skip-machine':
      return annotated(seen, skipAnnotation, gateMarks.skip)
    case 'unskip-machine':
      return unannotated(seen, skipAnnotation, gateMarks.skip)
    case 'hook-machine':
      return hooksPatch(seen, true)
    case 'unhook-machine':
      return hooksPatch(seen, false)
    case 'pause':
      return change.remediatorKind === 'medik8s-nhc'
        ? requestsPatch(seen, true)
        : annotated(seen, pausedAnnotation, gateMarks.pause)
    case 'resume':
      return change.remediatorKind === 'medik8s-nhc'
        ? requestsPatch(seen, false)
        : unannotated(seen, pausedAnnotation, gateMarks.pause)
  }
}

function annotated({ metadata }: KubeObject, annotation: string, mark: string): JsonObject | undefined {
  const { annotations = {}, resourceVersion } = metadata
  if (annotations[annotation] !== undefined) return undefined
  const all = [...new Set([...marksOf(annotations[marks.setByUs]), mark])].sort()
  return { metadata: { resourceVersion, annotations: { [annotation]: gateValue, [marks.setByUs]: all.join(',') } } }
}

function unannotated({ metadata }: KubeObject, annotation: string, mark: string): JsonObject | undefined {
  const { annotations = {}, resourceVersion } = metadata
  const marked = marksOf(annotations[marks.setByUs])
  if (!marked.includes(mark)) return undefined
  const left = marked.filter((each) => each !== mark)
  const isOurs = annotations[annotation] === gateValue
  return {
    metadata: {
      resourceVersion,
      annotations: {
        ...(isOurs ? { [annotation]: null } : {}),
        [marks.setByUs]: left.length === 0 ? null : left.join(','),
      },
    },
  }
}

function hooksPatch(seen: KubeObject, isWanted: boolean): JsonObject | undefined {
  const hooks = fieldOf(fieldOf(specOf(seen), 'lifecycleHooks'), 'preTerminate')
  const preTerminate = ownEntry(hooks, { name: hookName, owner: hookOwner }, isWanted, isOurHook)
  if (preTerminate === undefined) return undefined
  return { metadata: { resourceVersion: seen.metadata.resourceVersion }, spec: { lifecycleHooks: { preTerminate } } }
}

function requestsPatch(seen: KubeObject, isWanted: boolean): JsonObject | undefined {
  const pauseRequests = ownEntry(fieldOf(specOf(seen), 'pauseRequests'), pauseRequest, isWanted, isOwnPauseRequest)
  if (pauseRequests === undefined) return undefined
  return { metadata: { resourceVersion: seen.metadata.resourceVersion }, spec: { pauseRequests } }
}

/** The list with our entry or without it; null: it is to go altogether; undefined: it is as it should be. */
function ownEntry(
  list: Json | undefined,
  entry: Json,
  isWanted: boolean,
  isOurs: (entry: Json) => boolean,
): Json | undefined {
  const entries = Array.isArray(list) ? (list as readonly Json[]) : []
  if (entries.some(isOurs) === isWanted) return undefined
  const left = isWanted ? [...entries, entry] : entries.filter((each) => !isOurs(each))
  return left.length === 0 ? null : left
}

function isOurHook(hook: Json): boolean {
  return isJsonObject(hook) && hook['name'] === hookName
}

function specOf(object: KubeObject): Json | undefined {
  return (object as { readonly spec?: Json }).spec
}

function fieldOf(value: Json | undefined, field: string): Json | undefined {
  return isJsonObject(value) ? value[field] : undefined
}
