/** For whom a token must be issued that opens the operator's page: it opens nothing else. */
export const dashboardAudience = 'cofferdam-dashboard'

/** Who may `get` this path may see all that the operator sees. */
export const dashboardPath = '/cofferdam/dashboard'
