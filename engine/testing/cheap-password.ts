/** Hash of bcrypt of `password` with the lowest cost, so that tests with many logins are fast. */
export const cheapPasswordHash = "$2b$04$SD5cU0JK78jHcMNk3TeIDepqCfUbZAXA4mPQ.c0gdwynwg2LzvNKi"
