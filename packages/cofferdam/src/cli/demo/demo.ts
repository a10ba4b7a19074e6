import { Option } from 'commander'
import { type CliCommand, exitCodes } from '../command.ts'
import { parsePort, parseSeed } from '../parse-number.ts'
import type { DemoFlags, DemoPlaces } from './demo-flags.ts'
import { renderTour } from './tour/render-tour.ts'
import type { TourResult } from './tour/tour-step.ts'

/** Scenarios the demo can play; `default` leaves the cluster to you. */
const scenarios = ['default']

export function createDemoCommand(places: DemoPlaces): CliCommand<DemoFlags, TourResult | undefined> {
  return {
    name: 'demo',
    summary: 'start an embedded cluster to try things on',
    description:
      'Starts a Kubernetes-compatible cluster in this process, with nodes, workloads, a simulated Ceph and Longhorn, the operator and a live page, all on 127.0.0.1. Your own kubectl works with it. Ctrl-C ends it and leaves nothing behind.',
    examples: [
      { line: 'cofferdam demo', says: 'start the default cluster and its page' },
      { line: 'cofferdam demo --cluster examples/clusters/two-drainers.yaml', says: 'start a cluster of your own' },
      { line: 'cofferdam demo --tour', says: 'a tour of the capabilities, step by step' },
      {
        line: 'cofferdam demo --headless --kube-port 0 -o json',
        says: 'for scripts: no page, any port, facts as JSON',
      },
    ],

    configure(command) {
      command
        .option('--cluster <file>', 'the cluster to build, as docs/reference/cluster-file.md describes it')
        .addOption(new Option('--scenario <name>', 'the scenario to play').choices(scenarios).default('default'))
        .option(
          '--port <number>',
          'the port of the page; 0 takes any free one (default: 7400 or the next free one)',
          parsePort,
        )
        .option(
          '--kube-port <number>',
          'the port of the Kubernetes API; 0 takes any free one (default: 7443 or the next free one)',
          parsePort,
        )
        .option(
          '--metrics-port <number>',
          "the port of the operator's metrics; 0 takes any free one (default: 7480 or the next free one)",
          parsePort,
        )
        .option(
          '--kubeconfig-out <file>',
          'where to write the kubeconfig (default: .cofferdam/kubeconfig, or a file beside it while another demo has that one)',
        )
        .option('--headless', 'serve no page')
        .option('--tour', 'walk through the capabilities in this terminal, with real commands and their real output')
        .option('--yes', 'the tour goes on without waiting for Enter, as it does without a terminal')
        .option('--seed <number>', 'decides all that is left to chance', parseSeed)
    },

    async run(invocation) {
      // A cluster in a process is large: no other command should load it.
      const { runDemo } = await import('./run-demo.ts')
      return runDemo(places, invocation)
    },

    render: (result) => (result === undefined ? '' : renderTour(result)),
    exitCode: (result) => (result?.failure === undefined ? exitCodes.done : exitCodes.error),
  }
}
