/**
 * The composition root: the only place that selects the implementation of each interface, with a file for each layer. The container never
 * leaves this folder.
 */
import 'reflect-metadata' // tsyringe refuses to load without it
import { container as root, instanceCachingFactory as once } from 'tsyringe'
import { addAlerts } from './layers/alerts.ts'
import { addCore } from './layers/core.ts'
import { addDoors } from './layers/doors.ts'
import { addForms } from './layers/forms.ts'
import { addMail } from './layers/mail.ts'
import { addSites } from './layers/sites.ts'
import { addOutside } from './layers/outside.ts'
import type { Add, Composition, Foundation, Replacements, Resolve } from './parts.ts'

/** Composes a daemon. Each part is created at its first use. Nothing is started, and two daemons in one process share nothing. */
export function compose(foundation: Foundation, replace: Replacements = {}): Resolve {
  const container = root.createChildContainer()
  const get: Resolve = (key) => container.resolve(key)
  const composition: Composition = { ...foundation, replace, get }
  const add: Add = (key, make) => void container.register(key, { useFactory: once(() => make(composition)) })
  addOutside(add)
  addCore(add)
  addAlerts(add)
  addMail(add)
  addForms(add)
  addSites(add)
  addDoors(add)
  return get
}
