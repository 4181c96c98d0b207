/** Section "idle": costs of an unused daemon. */
import { Daemon, newAdminKey } from '../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { posternOptions, provision } from '../contenders.ts'
import type { BenchOptions } from '../options.ts'
import { memoryOf, processorTimeOfTree, writtenWhileIdle } from '../resources.ts'
import { judge, median, row, type Section } from '../results.ts'

/** Time for the daemon to return memory of its start. */
const quietSeconds = 15

export async function measureIdle({ rounds }: BenchOptions): Promise<Section> {
  await using folder = await temporaryFolder('bench-idle')
  const adminKey = newAdminKey()
  const options = posternOptions(folder.path, { NODE_COMPILE_CACHE: '' }) // uses the cache in the data folder
  {
    await using first = await Daemon.start(options, adminKey)
    await provision(first, 25, 'sandbox')
    await first.stop()
  }
  const starts: number[] = []
  const costs: number[] = []
  for (let i = 0; i < rounds; i++) {
    const begun = performance.now()
    await using daemon = await Daemon.launch(options, adminKey)
    await daemon.ready
    starts.push((performance.now() - begun) / 1000)
    costs.push(await processorTimeOfTree(daemon.addresses.pid))
    await daemon.stop()
  }
  await using daemon = await Daemon.start(options, adminKey)
  const written = await writtenWhileIdle(daemon.addresses.pid, quietSeconds)
  const resident = await memoryOf(daemon.addresses.pid, 'VmRSS')
  const start = median(starts)
  return {
    name: 'idle',
    lines: [
      'A daemon that was set up before and has nothing to do.',
      row('', ['start s', 'its CPU s', 'MiB', 'octets out']),
      row(`${String(quietSeconds)} s of quiet`, [start, median(costs), resident, written]),
    ],
    verdicts: [
      judge('idle: start <= 0.5 s from the second on', start, '<=', 0.5, 's'),
      judge('idle: <= 120 MiB', resident, '<=', 120, 'MiB'),
      judge('idle: nothing written to the disk', written, '<=', 0, 'octets'),
    ],
    data: { starts, costs, resident, written },
  }
}
