/** An alert channel of a project, and the requests of alert channels; see `../fixture/requests.ts`. */
import type { Fixture } from '../fixture/rest-fixture.ts'

const target = { url: 'https://hooks.example.ch/services/x' }

export const makeChannel = async (rest: Fixture['rest'], project_id: string): Promise<{ readonly channel: string }> => ({
  channel: String((await rest.must('POST', '/v1/alert-channels', { kind: 'slack', name: 'x', target, project_id }))['id']),
})

export const channelRequests = ({ channel, project }: { readonly channel: string; readonly project: string }) => {
  const one = { outsider: 'refused', params: { id: channel } } as const
  return {
    listAlertChannels: { outsider: 'refused', query: `project=${project}` } as const,
    createAlertChannel: { outsider: 'refused', body: { kind: 'slack', name: 'x', target, project_id: project } } as const,
    ...{ getAlertChannel: one, listAlertChannelAttempts: one, testAlertChannel: one },
    updateAlertChannel: { ...one, body: { name: 'Mine' } },
    deleteAlertChannel: { ...one, outsider: 'silent' } as const,
  }
}
