/** English: the profile. */
export const en = {
  say: (email: string) => `You are ${email}.`,
  sayText: 'The address is proved by every link that you sign in with; it cannot be changed.',
  account: 'Account',
  accountText: 'Your name, passkeys, and the browsers in which you are signed in, each of which you can end.',
  accountLink: 'Name, passkeys and sessions',
  applicationsText: 'Applications and agents that act for you, and taking back what they were allowed.',
  applicationsLink: 'Applications with access',
  browser: 'In this browser',
  browserText: 'Kept here and nowhere else.',
  roles: 'Your roles',
  failed: 'Your organization could not be read',
  manage: 'Your organizations',
} as const
