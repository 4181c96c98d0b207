/** Description of the setting for operators. */
import type { Documentation } from './fields.ts'

export const operatorWords: Documentation = {
  description:
    'Email addresses of the people who see and set in the dashboard what the operator key does. They need a sign-in with a proof of that address. Empty: none.',
  limit: 'a list of at most 64 email addresses such as ops@example.com',
}
