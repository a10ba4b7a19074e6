import type { MachineVerdict } from '../../explain/machine-verdict.ts'

/** The machine behind a node, as far as fencing goes. */
export interface MachineNote extends MachineVerdict {
  /** `openshift/openshift-machine-api/worker-1` */
  readonly id: string
}

/** One line on the card of a node; what is as usual is told shortly. */
export function machineText({ name, state }: Pick<MachineNote, 'name' | 'state'>, isReady: boolean): string {
  switch (state) {
    case 'removed':
      return `machine ${name} is being removed`
    case 'fenced':
      return `machine ${name} is being fenced`
    case 'kept':
      return isReady ? `machine ${name}, not to be fenced now` : `machine ${name} is kept from being fenced`
    default:
      return isReady ? `machine ${name}` : `machine ${name} may be fenced`
  }
}
