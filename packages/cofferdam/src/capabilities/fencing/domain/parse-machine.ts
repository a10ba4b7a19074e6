import type { Machine } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { hasPreDrainHook } from '../../../shared/pre-drain-hook.ts'
import { gateMarks, gateValue, hookName, marks, skipAnnotation } from './marks.ts'
import type { MachineView } from './snapshot.ts'

/** OpenShift's annotation: a health check asks for the host to be rebooted in place of a new machine. */
const bareMetalRemediation = 'host.metal3.io/external-remediation'

/** A view comes out of anything: a Machine without a node, or with fields that make no sense, is one without a node. */
export function parseMachine(machine: Machine, api: MachineView['api']): MachineView {
  const { namespace = '', name, deletionTimestamp, labels = {}, annotations = {} } = machine.metadata
  const nodeName: unknown = machine.status?.nodeRef?.name
  const hooks: unknown = machine.spec?.lifecycleHooks?.preTerminate
  return {
    api,
    namespace,
    name,
    nodeName: typeof nodeName === 'string' && nodeName !== '' ? nodeName : undefined,
    isBeingDeleted: deletionTimestamp !== undefined,
    labels,
    labelsOfOurs: marksOf(annotations[marks.labels]),
    isHookedByUs: Array.isArray(hooks) && hooks.some((hook: unknown) => isNamed(hook, hookName)),
    ...(deletionTimestamp !== undefined && hasPreDrainHook(machine) ? { isDrainedFirst: true } : {}),
    skip: setBy(annotations, skipAnnotation, gateMarks.skip),
    isRemediated:
      annotations[bareMetalRemediation] !== undefined || conditionOf(machine, 'OwnerRemediated')?.status === 'False',
  }
}

/** Who set an annotation that keeps a remediator off. It is ours by its value and our mark. */
export function setBy(
  annotations: Readonly<Record<string, string>>,
  annotation: string,
  mark: string,
): 'ours' | 'others' | undefined {
  const value = annotations[annotation]
  if (value === undefined) return undefined
  return value === gateValue && marksOf(annotations[marks.setByUs]).includes(mark) ? 'ours' : 'others'
}

export function marksOf(text: string | undefined): readonly string[] {
  return (text ?? '').split(',').filter((mark) => mark !== '')
}

function isNamed(hook: unknown, name: string): boolean {
  return typeof hook === 'object' && hook !== null && 'name' in hook && hook.name === name
}
