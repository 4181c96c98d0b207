/** A service with published forms and their pages. */
import type { ExecutionContext } from 'ava'
import { startFixture, type Fixture, type FixtureOptions } from '../../rest/fixture/rest-fixture.ts'
import { builtFormScripts } from '../../../support/web/built.ts'
import type { Row } from './golden.ts'

/** Operator settings for the privacy and abuse-report links in the footer of forms. */
export const footerLinks = {
  POSTERN_FORMS_PRIVACY_URL: 'https://www.example.ch/privacy',
  POSTERN_FORMS_REPORT_URL: 'https://www.example.ch/abuse?from=forms',
}

export interface Hosted extends Fixture {
  readonly url: string
  /** Publishes a form; returns its ids. */
  publish(definition: Row): Promise<{ readonly id: string; readonly publicId: string; readonly page: string }>
  submissions(id: string): Promise<readonly Row[]>
}

export async function startHosted(t: ExecutionContext, options: FixtureOptions = {}): Promise<Hosted> {
  await builtFormScripts()
  const fixture = await startFixture(t, options)
  const { rest, address } = fixture
  const url = `http://${address}`
  return {
    ...{ ...fixture, url },
    async publish(definition) {
      const { id, public_id: publicId } = await rest.must('POST', '/v1/forms', { name: definition['name'], definition })
      await rest.must('POST', `/v1/forms/${String(id)}/publish`)
      return { id: String(id), publicId: String(publicId), page: `${url}/f/${String(publicId)}` }
    },
    submissions: async (id) => (await rest.must('GET', `/v1/forms/${id}/submissions`))['data'] as readonly Row[],
  }
}
