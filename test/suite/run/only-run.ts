/** Allows one run at a time in a checkout, as runs write the same builds, shards and journals. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { RunError } from '../exit.ts'

/** Contains the process id of the run. */
const claimPath = 'build/run.pid'

/** Claims the checkout until disposal. Throws a `RunError` if another process has claimed it. */
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
