/** Creation of a deliverability test. */
import { call } from '../app/api.ts'
import { go, link, projectId } from '../app/location.ts'
import { asFault } from '../app/query.ts'
import { toast } from '../parts/toast.tsx'
import { createInspectTest } from '../wire/operations.ts'

/** Creates a test in the current project and opens its page. */
export async function beginTest(): Promise<void> {
  try {
    const { id } = await call(createInspectTest, { body: projectId.value === undefined ? {} : { project_id: projectId.value } })
    go(link(`/inspect/${id}`))
  } catch (error) {
    toast(asFault(error).message)
  }
}
