/** Keeps a second run out of the checkout: both would write the same builds, shards and journals. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { RunError } from '../exit.ts'

/** Names the process of the run. */
const claimPath = 'build/run.pid'

/** Claims the checkout until disposal. Throws a `RunError` while another process has it. */
export function claimCheckout(root: string): Disposable {
  const path = join(root, claimPath)
  const pid = existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0
  if (pid > 0 && isAlive(pid))
    throw new RunError(
      `Process ${String(pid)} runs tests in this checkout. Wait for its end; if it is another program, delete ${claimPath}.`,
    )
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, String(process.pid))
  return { [Symbol.dispose]: () => rmSync(path, { force: true }) }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
