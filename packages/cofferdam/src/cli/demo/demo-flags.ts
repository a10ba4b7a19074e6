import type { CliCommand, CommandGroup } from '../command.ts'
import type { Keys } from '../until-enter.ts'

export interface DemoFlags {
  readonly cluster?: string
  readonly scenario: string
  /** These are absent unless they were named: then the next free port and file do as well. */
  readonly port?: number
  readonly kubePort?: number
  readonly metricsPort?: number
  readonly kubeconfigOut?: string
  readonly headless?: boolean
  readonly seed?: number
  readonly tour?: boolean
  readonly yes?: boolean
}

export interface DemoPlaces {
  /** Where the built page is. */
  readonly pageDirectory: string
  readonly defaultClusterFile: string
  /** How this program is called from here; `cofferdam` by default. */
  readonly calledAs?: string
  /** Where the tour waits for Enter; without it, it goes on by itself. */
  readonly keys?: Keys
  /** What the tour can run. */
  readonly commands?: () => readonly (CliCommand | CommandGroup)[]
}
