import { Gauge, type Registry } from 'prom-client'

export function createMachineConfigMetrics(registry: Registry) {
  let pausedPools = () => 0
  new Gauge({
    name: 'cofferdam_machine_config_paused_pools',
    help: 'MachineConfigPools that Cofferdam has paused, because requests stand for their nodes.',
    registers: [registry],
    collect() {
      this.set(pausedPools())
    },
  })
  return {
    /** Read when it is asked for. */
    showLive(count: () => number) {
      pausedPools = count
    },
  }
}
