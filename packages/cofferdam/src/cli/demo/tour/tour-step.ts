import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { ObjectKey, ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { ExitCode } from '../../command.ts'

/** What a step must come to, or the tour has failed. */
export interface Expected {
  /** In words, for the one who follows the tour. */
  readonly says: string
  readonly exitCode: ExitCode
  readonly prints: RegExp
}

/** A command of this program. */
export interface CommandStep {
  readonly says: string
  readonly argv: readonly string[]
  readonly expects: Expected
  /** For a command that only reads: asked again until what is expected is there. Otherwise it is run once. */
  readonly withinSeconds?: number
  /** What it shows passes by itself, so it does not wait for Enter. */
  readonly isUrgent?: boolean
}

/** What the user would do with kubectl; done through the API, since kubectl may not be installed. */
export interface ChangeStep {
  readonly says: string
  readonly kubectl: string
  readonly change: {
    readonly type: ResourceType
    readonly key: ObjectKey
    /** A merge patch. */
    readonly body: JsonObject
  }
}

export type TourStep = CommandStep | ChangeStep

export interface Chapter {
  readonly title: string
  readonly steps: readonly TourStep[]
}

export interface TourResult {
  /** How many chapters came to their end. */
  readonly chapters: number
  /** What was expected and did not come about. */
  readonly failure?: string
}
