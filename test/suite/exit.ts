/** Exit codes and interruption of the programs of the suite. */

/** An error that is printed without its stack. */
export class RunError extends Error {}

/** Runs a program and sets its exit code. A `RunError` is printed and sets 2. */
export async function exitWith(program: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await program()
  } catch (error) {
    if (!(error instanceof RunError)) throw error
    console.error(error.message)
    process.exitCode = 2
  }
}

/** Returns a signal that SIGINT and SIGTERM abort. The process must end its children and then exit. */
export function interruption(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => controller.abort(new RunError('The run was interrupted.')))
  return controller.signal
}
