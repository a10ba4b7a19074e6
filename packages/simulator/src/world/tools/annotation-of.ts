import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { machineConfigAnnotations } from '@cofferdam/kubernetes/api/kinds/machine-config.ts'

export type ConfigAnnotation = keyof typeof machineConfigAnnotations

/** What the Machine Config Operator notes on a node; empty where it noted nothing. */
export function annotationOf({ metadata }: Node, annotation: ConfigAnnotation): string {
  return metadata.annotations?.[machineConfigAnnotations[annotation]] ?? ''
}
