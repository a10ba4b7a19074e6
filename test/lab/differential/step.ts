import type { Json, JsonObject } from '@cofferdam/kubernetes/api/json.ts'

/**
 * What is asked of both servers, as data: it can be printed, left out and repeated. `{ns}` anywhere in it stands for the
 * namespace of the sequence, which also begins the names of cluster-wide objects.
 *
 * What differs from server to server is said by reference: the text `<uid PATH>` stands for the uid of the object at a
 * path, `<version PATH>` for its latest version, and `<version PATH first>` for the first one that was seen.
 */
export type Step = RequestStep | WatchStep | PagesStep | BudgetsStep

export interface RequestStep {
  readonly asks: 'request'
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly query?: string
  readonly patch?: 'json' | 'merge' | 'strategic' | 'apply'
  readonly body?: Json
  /** The body is the object at a path as the server has it now, or as it was first seen, with a merge patch over it. */
  readonly edit?: {
    readonly of: string
    readonly at: 'now' | 'first'
    readonly merge: JsonObject
    /** What to start from where there never was such an object. */
    readonly otherwise: JsonObject
  }
}

export interface WatchStep {
  readonly asks: 'watch'
  readonly path: string
  readonly query: string
}

/** Reads a collection page by page. */
export interface PagesStep {
  readonly asks: 'pages'
  readonly path: string
  readonly query?: string
  readonly limit: number
}

/** Waits until both disruption controllers have counted, and compares. */
export interface BudgetsStep {
  readonly asks: 'settle-budgets'
}

export interface Sequence {
  readonly name: string
  /** The disruption controllers stand still, or they write budgets, each in its own time: how often says nothing. */
  readonly budgets?: 'paused' | 'live'
  readonly steps: readonly Step[]
}

/** One line that says what a step asks. */
export function stepText(step: Step): string {
  switch (step.asks) {
    case 'request': {
      const { method, path, query, patch, body, edit } = step
      const target = `${method}${patch === undefined ? '' : ` (${patch})`} ${path}${query === undefined ? '' : `?${query}`}`
      if (edit !== undefined) return `${target} with ${edit.of} as ${edit.at}, and ${JSON.stringify(edit.merge)}`
      return body === undefined ? target : `${target} ${JSON.stringify(body)}`
    }
    case 'watch':
      return `WATCH ${step.path}?${step.query}`
    case 'pages':
      return `LIST by ${step.limit} ${step.path}${step.query === undefined ? '' : `?${step.query}`}`
    default:
      return step.asks.replace('-', ' ')
  }
}
