/** How a program of the suite ends. */

/** An error whose message is all that a person needs. */
export class RunError extends Error {}

/** Sets the exit code to the one that a program returns; to 2 after a `RunError`, whose message is printed. */
export async function exitWith(program: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await program()
  } catch (error) {
    if (!(error instanceof RunError)) throw error
    console.error(error.message)
    process.exitCode = 2
  }
}

/** Aborts at SIGINT and SIGTERM. The process lives on until all that it started has ended. */
export function interruption(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => controller.abort(new RunError('The run was interrupted.')))
  return controller.signal
}
