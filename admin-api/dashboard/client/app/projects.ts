/** The projects of the organization, read once for the switcher and for names. */
import { signal, effect } from '@preact/signals'
import { listProjects, type Project } from '../wire/operations.ts'
import { call } from './api.ts'
import { organization, projectId } from './location.ts'
import { mayRead } from './permissions.ts'

export const projects = signal<readonly Project[]>([])

/** Reads them now, and again when another organization is chosen. */
export function followProjects(): void {
  effect(() => {
    if (organization.value && mayRead.value) void readProjects()
  })
}

async function readProjects(): Promise<void> {
  try {
    const { data } = await call(listProjects, { query: { limit: '200' } })
    projects.value = data
  } catch {
    projects.value = [] // screens say what is wrong; the switcher then shows the organization alone
  }
}

/** The project that new things belong to: the chosen one, else the default of the organization. */
export const homeProject = (): Project | undefined =>
  projects.value.find(({ id }) => id === projectId.value) ?? projects.value.find(({ is_default: isDefault }) => isDefault)
