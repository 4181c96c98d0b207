/** English: why a message went where it went. */
export const en = {
  someDestination: 'that is gone',
  request: (destination: string) => `The request names the destination ${destination}.`,
  requestEnvironment: (environment: string, destination: string) =>
    `The request names the environment ${environment}, in which ${destination} is chosen.`,
  credential: (destination: string) => `The SMTP login names the destination ${destination}.`,
  credentialEnvironment: (environment: string, destination: string) =>
    `The SMTP login names the environment ${environment}, in which ${destination} is chosen.`,
  rule: (rule: string, destination: string) => `The rule ${rule} leads to the destination ${destination}.`,
  ruleEnvironment: (rule: string, environment: string, destination: string) =>
    `The rule ${rule} leads to the environment ${environment}, in which ${destination} is chosen.`,
  project: (environment: string, destination: string) =>
    `No rule matches. The project has the environment ${environment}, in which ${destination} is chosen.`,
  orgDefault: (destination: string) => `No rule matches, so it goes to the default sender of the organization, ${destination}.`,
  none: 'No rule matches, and there is no default sender.',
  ruleNot: (rule: string) => `The rule ${rule} does not match.`,
  ruleGone: (rule: string) => `The rule ${rule} matches, but what it leads to is gone.`,
  claimed: 'The project is claimed.',
  noDefault: 'There is no default sender.',
  noneSuppressed: 'No recipient is suppressed.',
  takesMail: (destination: string) => `The destination ${destination} takes mail now.`,
  notRouted: 'The message was refused before it was routed.',
  anyMail: 'for any sender',
  priority: (priority: number) => `priority ${String(priority)}`,
  anonymous: 'The project is not claimed yet, so all its sends are captured.',
  sandbox: (destination: string) => `The destination ${destination} is in sandbox mode; promote it to live to relay.`,
  agent: 'The token of this agent sends into the sandbox only.',
  test: 'It is a test of a template, which is always captured.',
  proof: (destination: string) => `It is a test of the deliverability of ${destination}, which is relayed from a sandbox too.`,
  live: (destination: string) => `The destination ${destination} is live.`,
  noRoute: 'No destination matches, and the project captures what has no route.',
} as const
