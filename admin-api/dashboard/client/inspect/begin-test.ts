/** Creation of a deliverability test. */
import { call } from '../app/api.ts'
import { go, link, projectId } from '../app/location.ts'
import { showFault } from '../app/query.ts'

/** Creates a test in the current project and opens its page. */
export async function beginTest(): Promise<void> {
  try {
    const { id } = await call('POST /v1/inspect/tests', { body: projectId.value === undefined ? {} : { project_id: projectId.value } })
    go(link(`/inspect/${id}`))
  } catch (error) {
    showFault(error)
  }
}
