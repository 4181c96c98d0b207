/** Lets a module act on an entry of its journal. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

/** Calls `act` each time an entry with this text has been written. */
export function afterEntry(text: string, act: () => unknown): void {
  const append = fs.appendFileSync
  fs.appendFileSync = (...args: Parameters<typeof append>) => {
    append(...args)
    if (String(args[1]).includes(text)) act()
  }
  syncBuiltinESMExports()
}
