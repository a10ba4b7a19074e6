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
}

export interface DemoPlaces {
  /** Where the built page is. */
  readonly pageDirectory: string
  readonly defaultClusterFile: string
  /** How this program is called from here; `cofferdam` by default. */
  readonly calledAs?: string
}
