import type { ModelStep } from './state.ts'

export function inWords(step: ModelStep): string {
  switch (step.step) {
    case 'take':
      return `take ${step.claims.map(({ key }) => key).join(' and ')}`
    case 'queue':
      return `queue for ${step.claims.map(({ key }) => key).join(' and ')}${step.aside === undefined ? '' : `, aside ${step.aside.toLowerCase()}`}`
    case 'release-budgets':
      return `release ${step.keys.join(' and ')} under epoch ${step.epoch}`
    case 'step-back':
      return `step back under epoch ${step.epoch}`
    case 'record':
    case 'close':
      return `record ${step.record.phase}${step.record.epoch === undefined ? '' : ` under epoch ${step.record.epoch}`}`
    case 'lock':
      return `mark budget ${step.budget.name} under epoch ${step.epoch}`
    case 'reserve':
      return `reserve ${step.of.pods.join(', ')} in budget ${step.of.budget.name}`
    case 'unlock':
      return `give back what is reserved in budget ${step.budget.name}`
    case 'unmark':
      return `unmark budget ${step.of.budget.name}`
    case 'break':
      return `break ${step.keys.join(' and ')}`
    case 'evict':
      return `ask to evict ${step.pods.map(({ name }) => name).join(', ')} under epoch ${step.epoch}`
    case 'intend':
    case 'renew':
    case 'release':
      return `${step.step} under epoch ${step.epoch}`
    default:
      return step.step
  }
}
