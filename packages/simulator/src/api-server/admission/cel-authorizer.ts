import type { Environment } from '@marcbachmann/cel-js'
import type { AccessAttributes } from '../access/policy-rule.ts'

type Question = Partial<AccessAttributes>
type Ask = (attributes: AccessAttributes) => boolean

/** `authorizer` in the expressions of policies: whether the user may do something, asked step by step. */
export class CelAuthorizer {
  readonly ask: Ask

  constructor(ask: Ask) {
    this.ask = ask
  }
}

class GroupCheck {
  readonly ask: Ask
  readonly group: string

  constructor(ask: Ask, group: string) {
    this.ask = ask
    this.group = group
  }
}

class ResourceCheck {
  readonly ask: Ask
  readonly question: Question

  constructor(ask: Ask, question: Question) {
    this.ask = ask
    this.question = question
  }

  with(more: Question): ResourceCheck {
    return new ResourceCheck(this.ask, { ...this.question, ...more })
  }
}

class Decision {
  readonly isAllowed: boolean

  constructor(isAllowed: boolean) {
    this.isAllowed = isAllowed
  }
}

const types = {
  authorizer: 'kubernetes.authorization.Authorizer',
  group: 'kubernetes.authorization.GroupCheck',
  resource: 'kubernetes.authorization.ResourceCheck',
  decision: 'kubernetes.authorization.Decision',
}

/** Adds the variable `authorizer` and what can be asked of it about resources. */
export function registerAuthorizer(environment: Environment): void {
  const { authorizer, group, resource, decision } = types
  environment
    .registerType(authorizer, CelAuthorizer)
    .registerType(group, GroupCheck)
    .registerType(resource, ResourceCheck)
    .registerType(decision, Decision)
    .registerVariable('authorizer', authorizer)
    .registerFunction(`${authorizer}.group(string): ${group}`, ({ ask }: CelAuthorizer, name: string) => {
      return new GroupCheck(ask, name)
    })
    .registerFunction(`${group}.resource(string): ${resource}`, ({ ask, group: of }: GroupCheck, name: string) => {
      return new ResourceCheck(ask, { group: of, resource: name })
    })
    .registerFunction(`${resource}.subresource(string): ${resource}`, (check: ResourceCheck, subresource: string) =>
      check.with({ subresource }),
    )
    .registerFunction(`${resource}.namespace(string): ${resource}`, (check: ResourceCheck, namespace: string) =>
      check.with({ namespace }),
    )
    .registerFunction(`${resource}.name(string): ${resource}`, (check: ResourceCheck, name: string) =>
      check.with({ name }),
    )
    .registerFunction(`${resource}.check(string): ${decision}`, ({ ask, question }: ResourceCheck, verb: string) => {
      return new Decision(ask({ group: '', resource: '', ...question, verb }))
    })
    .registerFunction(`${decision}.allowed(): bool`, ({ isAllowed }: Decision) => isAllowed)
}
